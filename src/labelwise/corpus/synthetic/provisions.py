"""The project's own phrases, continued: what synthetic acts do, with the sentences that do it."""

from __future__ import annotations

from labelwise.corpus.synthetic.phrases import Provision

PROVISIONS: tuple[Provision, ...] = (
    Provision(
        "import", "importation", "external trade", ("farm", "fish", "goods"),
        "import of {s}", "on arrangements for {m} of {s}",
        ("imports", "importation", "goods imported"), ("importers", "inward consignments", "entry"),
        ("{m} of {s} originating in {p} rose by {n} % between {y} and the following year, and the "
         "importers concerned expect a further rise.",
         "The entry of {s} from {p} should be watched closely, so that inward consignments do not "
         "disturb the market.",
         "Purchases from {p} account for {n} % of all {m} of {s}."),
        ("{m} of {s} from {p} shall be admitted only where the consignment is accompanied by the "
         "document set out in the Annex.",
         "The importers shall declare each inward consignment of {s} at the place of entry within "
         "{n} days.",
         "The competent authorities shall notify the quantities of {s} imported from {p} not later "
         "than the tenth day of each month."),
        ("import licence", "tariff classification", "tariff quota"), ("importation",)),
    Provision(
        "export", "exportation", "external trade", ("farm", "goods"),
        "export of {s}", "on {m} of {s} to third countries",
        ("exports", "exportation", "goods exported"), ("exporters", "outward consignments"),
        ("{m} of {s} to {p} have fallen, and exporters have lost outlets that took years to build.",
         "The outward consignments of {s} leave by few ports, which makes {m} easy to supervise.",
         "World demand for {s} is firm, so that {m} can be resumed."),
        ("Exporters shall lodge a declaration for each outward consignment of {s}.",
         "{m} of {s} to {p} shall be suspended until {d}.",
         "Proof of exit of {s} from the territory shall be furnished within {n} months."),
        ("export refund",), ("exportation",)),
    Provision(
        "export refund", "restitution à l'exportation", "market organisation", ("farm",),
        "export refund for {s}", "fixing the {m} on {s}",
        ("refunds on exports", "export refunds", "refund rates"),
        ("refunds", "world market quotations", "destination"),
        ("The difference between world quotations and prices within the common market may be "
         "covered by {m} for {s}.",
         "The refunds must be fixed with regard to the destination of {s} and to the quotations on "
         "the world market.",
         "The present situation of the market in {s} makes it necessary to vary the rates "
         "according to destination, {p} in particular."),
        ("The {m} for {s} shall be fixed at the amounts set out in the Annex.",
         "No refund shall be granted on {s} sent to {p}.",
         "The refund shall be paid only on products of sound and fair quality whose destination "
         "has been proved."),
        ("export",), ("restitution on exports",)),
    Provision(
        "tariff quota", "contingent tarifaire", "customs", ("farm", "fish", "goods"),
        "tariff quota for {s}", "opening a {m} for {s}",
        ("tariff quotas", "duty-free quota", "quotas on tariff terms"),
        ("quota volume", "order number", "drawings", "duty-free volume"),
        ("The agreement concluded with {p} provides for the opening of {m} for {s} each year.",
         "Equal and continuous access of all users to the quota volume should be ensured, and "
         "drawings on it should be made as needs arise.",
         "The duty-free volume of {n} tonnes for {s} was used up within weeks."),
        ("From {d} the duty on {s} shall be suspended within the limits of {m} of {n} tonnes under "
         "order number 09.{n}.",
         "Drawings on the quota volume shall be granted in the order in which the declarations "
         "were accepted.",
         "Any quantity of {s} not drawn shall be returned to the volume at once."),
        ("import", "tariff classification"), ("customs quota",)),
    Provision(
        "import licence", "licence d'importation", "external trade", ("farm", "fish", "goods"),
        "import licence for {s}", "on the issue of {m} for {s}",
        ("import licences", "licences for imports", "licences"),
        ("licence applications", "security", "period of validity"),
        ("Applications for {m} for {s} exceed the quantities available, so that a single "
         "percentage of reduction has to be fixed.",
         "The period of validity of licences should be long enough for shipment from {p}.",
         "Speculative applications should be deterred by the lodging of a security."),
        ("{m} for {s} applied for during the first {n} days of the month shall be issued for {n} % "
         "of the quantity requested.",
         "Applicants shall lodge a security of EUR {n} per tonne, which is forfeited where the "
         "licence is not used.",
         "The licence shall be valid until {d} and its box 8 shall name {p}."),
        ("import",)),
    Provision(
        "anti-dumping duty", "droit antidumping", "external trade", ("goods", "fish"),
        "anti-dumping duty on {s}", "imposing a provisional {m} on {s}",
        ("duties against dumping", "anti-dumping duties", "dumping duty"),
        ("dumping margin", "injury", "normal value", "complainants", "undercutting"),
        ("The complainants alleged the sale of {s} from {p} below normal value and material injury "
         "to the industry.",
         "The dumping margin, expressed as a percentage of the free-at-frontier price, came to {n} "
         "% for the producers that cooperated.",
         "Price undercutting of {n} % was established during the investigation period, and no "
         "interest of users speaks against {m}."),
        ("The {m} on {s} originating in {p} shall come to {n} % of the net price.",
         "The undertaking offered by the exporting producers is accepted and the proceeding "
         "against them is terminated.",
         "The amounts secured by way of the provisional duty shall be definitively collected."),
        ("import",), ("definitive duty on dumped goods",)),
    Provision(
        "tariff classification", "classement tarifaire", "customs", ("farm", "goods", "fish"),
        "tariff classification of {s}", "on the {m} of certain {s}",
        ("classification in the tariff", "tariff heading", "classifying"),
        ("nomenclature", "heading", "subheading", "combined codes", "general rules"),
        ("To apply the nomenclature uniformly, provision has to be made for the {m} of {s}.",
         "Under the general rules for interpreting the nomenclature, goods made up of {s} fall "
         "under the heading that gives them their essential character.",
         "Binding information issued before {d} may still be relied on for the heading concerned."),
        ("The {s} described in column 1 of the table shall be classified under the subheading in "
         "column 2.",
         "Note {n} to the chapter is replaced by a note that covers {s}.",
         "Binding tariff information that conflicts with this nomenclature shall cease to be "
         "valid on {d}."),
        (), ("customs classification",)),
    Provision(
        "intervention purchase", "achat d'intervention", "market organisation", ("farm",),
        "intervention purchase of {s}", "on {m} of {s}",
        ("purchases into intervention", "buying-in", "intervention purchases"),
        ("intervention agencies", "tenders", "buying-in price", "public stocks"),
        ("Intervention agencies hold {n} tonnes of {s} in public stocks that weigh on the market.",
         "Buying-in should be opened in {p}, where the price of {s} stood below the trigger level "
         "for two weeks.",
         "The tenders received make it possible to fix the maximum buying-in price."),
        ("The intervention agencies shall buy in {s} by tender at not more than EUR {n} per 100 "
         "kilograms.",
         "{m} of {s} shall be suspended in {p} from {d}.",
         "Lots of {s} offered for public stocks shall weigh at least {n} tonnes."),
        ("private storage aid",), ("buying-in",)),
    Provision(
        "private storage aid", "aide au stockage privé", "market organisation", ("farm",),
        "private storage aid for {s}", "granting {m} for {s}",
        ("aid for private storage", "storage aids", "aid for storage"),
        ("cold stores", "contracting party", "storage contract", "removal from store"),
        ("Seasonal surpluses of {s} can be taken off the market by {m}.",
         "The storage contract should bind the contracting party to keep {s} in cold stores for a "
         "fixed time.",
         "The cost of entry into store, of cooling and of removal from store is met in part."),
        ("{m} shall be granted for {s} placed in cold stores between {d} and the end of the year.",
         "The contracting party shall keep the stored batch of {s} apart and accept checks at any "
         "time.",
         "Removal from store before the end of the storage contract lowers the aid by {n} %."),
        ("intervention purchase",)),
    Provision(
        "production aid", "aide à la production", "market organisation", ("farm",),
        "production aid for {s}", "fixing the {m} for {s}",
        ("aid for production", "aids to producers", "aid to growers"),
        ("growers", "area payments", "hectares", "producer organisations"),
        ("Growers of {s} in {p} work small holdings and need {m} to keep their income stable.",
         "Area payments should be made per hectare of {s} that was sown and tended.",
         "Recognised producer organisations are best placed to pay {m} to their members."),
        ("{m} for {s} shall amount to EUR {n} per hectare for the marketing year.",
         "Growers shall lodge an aid application that lists the hectares under {s}.",
         "Producer organisations shall keep records of what each grower delivered."),
        ("quality standard",), ("grower's aid",)),
    Provision(
        "quality standard", "norme de qualité", "market organisation", ("farm", "fish"),
        "quality standard for {s}", "laying down the {m} for {s}",
        ("standards of quality", "quality standards", "common standards"),
        ("grading", "sizing", "class I", "tolerances", "uniformity"),
        ("The aim of {m} for {s} is to keep products of poor grade off the market.",
         "Sizing of {s} should follow the largest diameter, and tolerances should be allowed in "
         "each class.",
         "Experience in {p} has shown that the grading of {s} can be made simpler."),
        ("The Annex sets out the {m} for {s} falling within class I and class II.",
         "Tolerances of {n} % by number or weight shall be allowed in each package of {s}.",
         "Lots that fail the grading shall not be displayed, offered for sale or delivered."),
        ("labelling",)),
    Provision(
        "labelling", "étiquetage", "technical rules", ("farm", "fish", "goods"),
        "labelling of {s}", "on the {m} and presentation of {s}",
        ("labels", "labelled packages", "particulars on the label"),
        ("lettering", "list of ingredients", "packages", "sales name", "consumers"),
        ("Consumers should learn from the particulars on the package what the {s} contain.",
         "The sales name of {s} and the list of ingredients differ between the laws of the Member "
         "States, {p} included.",
         "Lettering that misleads the buyer as to the nature of {s} must be prohibited."),
        ("The {m} of {s} shall show the sales name, the net quantity and the date of packing in "
         "clear lettering.",
         "Packages of {s} put up for the final consumer shall bear the list of ingredients.",
         "No statement on the package may suggest properties that the {s} do not possess."),
        ("quality standard", "consumer protection")),
    Provision(
        "designation of origin", "appellation d'origine", "market organisation", ("farm",),
        "designation of origin for {s}", "entering a {m} for {s} in the register",
        ("designations of origin", "names of origin", "protected name"),
        ("register", "geographical name", "terroir", "specification", "usurpation"),
        ("A group of producers in {p} applied to have a geographical name for {s} entered in the "
         "register.",
         "The specification shows that the character of {s} is owed to soil, climate and know-how "
         "of the area.",
         "No objection to the name was received, and usurpation of it should be prevented."),
        ("The name in the Annex is entered in the register as a {m} for {s}.",
         "The name shall be protected against usurpation, imitation and evocation.",
         "{s} that do not meet the specification may carry the geographical name until {d}."),
        ("labelling",), ("protected origin",)),
    Provision(
        "catch quota", "quota de captures", "fishing", ("fish",),
        "catch quota for {s}", "fixing the {m} for {s}",
        ("quotas for catches", "catch quotas", "allowable catches"),
        ("landings", "stocks", "sea areas", "by-catches", "spawning"),
        ("Scientific advice on the spawning stocks of {s} calls for {m} that are lower by {n} %.",
         "Landings of {s} by vessels flying the flag of {p} are deemed to have used up the share "
         "allotted for {y}.",
         "By-catches must be counted against the share of the vessel that took them."),
        ("Catches of {s} in sea area VII by vessels registered in {p} are deemed to have exhausted "
         "the {m}.",
         "The retention on board, transhipment and landing of {s} caught after {d} is prohibited.",
         "Allowable catches of {s} for {y} are divided as the Annex shows."),
        ("fishing licence",), ("total allowable catch",)),
    Provision(
        "fishing licence", "licence de pêche", "fishing", ("fish",),
        "fishing licence for {s}", "on {m} for vessels taking {s}",
        ("licences to fish", "fishing licences", "licensed vessels"),
        ("skippers", "logbook", "mesh size", "engine power", "nets"),
        ("Vessels from {p} that take {s} need {m}, so that the effort at sea can be kept in check.",
         "The skippers must keep a logbook and use nets of the mesh size laid down.",
         "Engine power and tonnage decide how many licensed vessels may take {s} at one time."),
        ("{m} for {s} shall name the vessel, its engine power and the sea areas it may enter.",
         "Skippers shall report each haul of {s} by radio and enter it in the logbook.",
         "Nets with a mesh size under {n} millimetres shall not be carried on board."),
        ("catch quota",)),
    Provision(
        "type-approval", "réception par type", "technical rules", ("goods",),
        "type-approval of {s}", "on the {m} of {s}",
        ("approval of types", "types approved", "approval marks"),
        ("test bench", "technical services", "conformity of production", "components"),
        ("The technical requirements for {s} differ from one Member State to another and hinder "
         "{m} of components.",
         "Technical services test each type of {s} on the bench before the mark is granted.",
         "Progress makes it possible to adapt the tests for {s} carried out since {y}."),
        ("No Member State may refuse {m} of {s} that meet the tests in the Annex.",
         "The manufacturer shall apply to one technical service and submit {n} samples.",
         "Conformity of production shall be checked at the works at least once in {n} months."),
        ("technical standard",), ("homologation",)),
    Provision(
        "technical standard", "norme technique", "technical rules", ("goods", "sector"),
        "technical standard for {s}", "on {m} applicable to {s}",
        ("standards", "technical specifications", "technical standards"),
        ("standardisation bodies", "harmonised texts", "essential requirements", "notified bodies"),
        ("Standardisation bodies have drawn up harmonised texts for {s} under a mandate.",
         "Going beyond the essential requirements, {m} may raise barriers to trade in {s}.",
         "Notified bodies in {p} have asked how the essential requirements are to be read."),
        ("{s} that meet the harmonised texts shall be presumed to meet the essential requirements.",
         "The references of {m} for {s} shall be published.",
         "Notified bodies shall be independent of the makers and users of {s}."),
        ("type-approval",), ("technical specification",)),
    Provision(
        "marketing authorisation", "autorisation de mise sur le marché", "technical rules",
        ("goods",),
        "marketing authorisation for {s}", "concerning {m} of certain {s}",
        ("authorisations to market", "authorised for marketing", "placing on the market"),
        ("dossier", "applicant", "toxicity", "rapporteur", "evaluation"),
        ("The applicant submitted a dossier on {s} to the authorities of {p}, which acted as "
         "rapporteur.",
         "The evaluation of toxicity did not raise concerns, provided that {s} are used as the "
         "applicant proposes.",
         "Further studies are needed before {m} can be granted without limit of time."),
        ("{m} for {s} shall be granted for a period of {n} years.",
         "The applicant shall submit the missing part of the dossier by {d}.",
         "Existing stocks of {s} may be used up within {n} months of the withdrawal."),
        ("consumer protection",), ("product licence",)),
    Provision(
        "consumer protection", "protection du consommateur", "technical rules",
        ("goods", "farm", "sector"),
        "consumer protection for buyers of {s}", "on {m} in respect of {s}",
        ("protection of consumers", "consumers' rights", "protecting the consumer"),
        ("consumers", "unfair terms", "complaints", "recall", "right of withdrawal"),
        ("Buyers of {s} are often the weaker party and deserve {m} against unfair terms.",
         "Complaints about {s} sold in {p} doubled, and a recall had to be ordered.",
         "A right of withdrawal within {n} days gives consumers time to reflect."),
        ("Unfair terms in contracts for {s} shall not bind the consumer.",
         "Member States shall see to it that a recall of {s} reaches all buyers.",
         "Complaints shall be answered within {n} days and free of charge."),
        ("labelling",)),
    Provision(
        "veterinary inspection", "inspection vétérinaire", "animal health", ("health",),
        "veterinary inspection for {s}", "on {m} with regard to {s}",
        ("inspections by veterinarians", "veterinary checks", "inspected by veterinarians"),
        ("official veterinarian", "blood samples", "slaughterhouses", "health certificate"),
        ("Official veterinarians found signs of {s} when they took blood samples in {p}.",
         "{m} at the frontier will be needed as long as reports of {s} come in.",
         "Slaughterhouses that handle animals from the area should be inspected more often."),
        ("The official veterinarian shall take blood samples wherever there is a suspicion of {s}.",
         "Consignments shall travel with a health certificate stating that there was no sign of "
         "{s} for {n} days.",
         "{m} shall be carried out in all slaughterhouses of {p}."),
        ("movement restriction",), ("veterinary check",)),
    Provision(
        "vaccination", "vaccination", "animal health", ("health",),
        "vaccination against {s}", "on emergency {m} against {s}",
        ("vaccinated animals", "vaccinating", "vaccines"),
        ("vaccine bank", "antigen", "inoculation", "booster doses"),
        ("Emergency {m} may halt the spread of {s} in {p} where culling alone does not suffice.",
         "The antigen held in the vaccine bank covers the strain behind {s}.",
         "Inoculation with booster doses makes it hard to tell infected animals from others."),
        ("{p} may carry out {m} against {s} in a zone of {n} kilometres.",
         "Doses shall be drawn from the vaccine bank and each inoculation recorded.",
         "Animals that had the vaccine against {s} shall be marked and shall not leave the zone."),
        ("eradication programme",), ("inoculation",)),
    Provision(
        "movement restriction", "restriction de mouvement", "animal health", ("health",),
        "movement restriction for {s}", "on {m} in connection with {s}",
        ("restrictions on movement", "movement bans", "restricted zone"),
        ("standstill", "surveillance zone", "disinfection", "holdings", "live animals"),
        ("Following outbreaks of {s} in {p}, live animals should not leave the surveillance zone.",
         "A standstill of {n} days and the disinfection of lorries lower the risk from {s}.",
         "The restricted zone can be made smaller, as further holdings showed no sign of {s}."),
        ("{p} shall not send live animals from the surveillance zone set up because of {s}.",
         "Disinfection of vehicles shall be carried out on leaving the holdings.",
         "The standstill shall be lifted {n} days after the last signs of {s}."),
        ("veterinary inspection",), ("standstill",)),
    Provision(
        "eradication programme", "programme d'éradication", "animal health", ("health",),
        "eradication programme for {s}", "approving the {m} for {s} presented by {p}",
        ("programmes to eradicate", "plan for eradication", "eradication"),
        ("culling", "compensation of owners", "disease-free status", "monitoring of herds"),
        ("The {m} for {s} which {p} presented can be approved under the criteria laid down.",
         "Compensation of owners for the culling of animals is the largest cost of the plan.",
         "Disease-free status can be reached within {n} years if the fight against {s} goes on."),
        ("The {m} for {s} presented by {p} is approved for {y}.",
         "The contribution shall be {n} % of the cost of testing, culling and compensation of "
         "owners.",
         "{p} shall report every {n} months on the progress made against {s}."),
        ("financial assistance", "vaccination")),
    Provision(
        "environmental monitoring", "surveillance de l'environnement", "protection of nature",
        ("nature",),
        "environmental monitoring of {s}", "establishing a network for {m} of {s}",
        ("monitoring of the environment", "monitoring stations", "environmental measurements"),
        ("sampling points", "measuring network", "ecosystems", "data exchange"),
        ("A measuring network should gather comparable data on {s} from all sampling points.",
         "Results of {m} in {p} show how slowly {s} can be influenced.",
         "Data exchange between stations helps to follow {s} across frontiers."),
        ("Each Member State shall set up at least {n} sampling points for {s}.",
         "{m} of {s} shall follow the reference methods in the Annex.",
         "Results from the measuring network shall be sent in once in {n} months."),
        ("emission limit",), ("ecological surveillance",)),
    Provision(
        "emission limit", "limite d'émission", "protection of nature", ("nature", "goods"),
        "emission limit for {s}", "setting {m} in relation to {s}",
        ("limits on emissions", "emission limits", "emitted quantities"),
        ("limit values", "plants", "best available techniques", "discharges", "thresholds"),
        ("Limit values for plants that cause or handle {s} should rest on the best available "
         "techniques.",
         "Discharges linked to {s} crossed the thresholds in {p} on {n} days of the year.",
         "The tightening of {m} should come in two stages, so that operators can plan."),
        ("Plants shall not exceed {m} of {n} milligrams per cubic metre in connection with {s}.",
         "Member States shall review the permits of all plants concerned with {s} by {d}.",
         "Where thresholds are crossed, discharges shall be cut back without delay."),
        ("environmental monitoring",), ("emission ceiling",)),
    Provision(
        "conservation area", "zone de conservation", "protection of nature", ("nature",),
        "conservation area for {s}", "adopting a list of {m} with regard to {s}",
        ("areas for conservation", "conservation areas", "protected sites"),
        ("habitats", "biogeographical region", "species", "site list"),
        ("The sites proposed by {p} host habitats of interest and bear on {s}.",
         "Taken together, {m} let species move between regions.",
         "The site list is a living one and has to be brought up to date with regard to {s}."),
        ("The list of {m} with regard to {s} for the biogeographical region is adopted.",
         "{p} shall keep habitats on the listed sites in good condition.",
         "Works that harm the species or worsen {s} shall be assessed first."),
        ("environmental monitoring",), ("nature reserve",)),
    Provision(
        "State aid", "aide d'État", "finance and competition", ("sector", "goods", "fish"),
        "State aid to the {s} industry", "on {m} granted by {p} in the field of {s}",
        ("aid from the State", "aid schemes", "aid granted by the State"),
        ("beneficiary", "restructuring", "compatibility", "recovery", "soft loan"),
        ("{p} notified a soft loan for a beneficiary active in {s}.",
         "The measure favours one undertaking and threatens to distort competition in {s}, so "
         "that it has the nature of {m}.",
         "Compatibility depends on a restructuring plan and on a contribution by the beneficiary."),
        ("The {m} which {p} granted to an undertaking active in {s} cannot be declared compatible "
         "with the common market.",
         "{p} shall order recovery from the beneficiary, with interest from {d}.",
         "The authorities shall inform within {n} months of the steps taken in the {s} case."),
        ("merger control",), ("national aid",)),
    Provision(
        "merger control", "contrôle des concentrations", "finance and competition",
        ("sector", "goods"),
        "merger control in the {s} industry", "on {m} in a case concerning {s}",
        ("control of mergers", "mergers", "concentrations"),
        ("turnover", "joint venture", "dominant position", "market shares", "divestment"),
        ("Two groups from {p} notified a joint venture that would hold {n} % of the market for "
         "{s}.",
         "In {m} it has to be established whether a dominant position in {s} would arise.",
         "The parties offered the divestment of one unit, which removes the overlap in {s}."),
        ("The joint venture in {s} is declared compatible, subject to the divestment.",
         "The parties shall report their market shares and turnover in {s} for {n} years.",
         "A fine of EUR {n} million is imposed for closing the deal before {m} had ended."),
        ("State aid",), ("control of concentrations",)),
    Provision(
        "security of supply", "sécurité d'approvisionnement", "transport and energy", ("sector",),
        "security of supply in {s}", "on {m} in {s}",
        ("secure supply", "supply risks", "supplies kept secure"),
        ("emergency stocks", "disruption", "reserves", "crisis plan"),
        ("A disruption in {p} would touch all users of {s} within days.",
         "Emergency stocks and a crisis plan are the backbone of {m} in {s}.",
         "Reserves in {s} differ widely, and solidarity has its limits."),
        ("Member States shall keep reserves that cover {n} days of demand in {s}.",
         "A crisis plan for {s} shall be drawn up and rehearsed by {d}.",
         "In a disruption, emergency stocks shall be released in agreement with {p}."),
        ("technical standard",)),
    Provision(
        "statistical survey", "enquête statistique", "finance and competition",
        ("sector", "farm", "fish", "goods"),
        "statistical survey of {s}", "on {m} in the field of {s}",
        ("surveys", "statistical returns", "statistics"),
        ("respondents", "sampling frame", "reference period", "variables", "tables"),
        ("Reliable figures on {s} call for {m} with the same variables everywhere.",
         "The sampling frame should spare small respondents that deal in {s}.",
         "Tables sent in by {p} for the reference period {y} came late."),
        ("Member States shall carry out {m} on {s} every {n} years.",
         "Respondents shall give true and complete answers about {s}.",
         "Tables broken down by variables shall be sent within {n} months of the reference "
         "period."),
        (), ("census",)),
    Provision(
        "financial assistance", "aide financière", "finance and competition",
        ("sector", "nature", "health"),
        "financial assistance for {s}", "on {m} in connection with {s}",
        ("assistance from the budget", "financial contribution", "funds made available"),
        ("co-financing", "eligible expenditure", "appropriations", "instalments", "audit"),
        ("The budget allows co-financing of action by {p} in connection with {s}.",
         "{m} should cover eligible expenditure on {s} that was paid before {d}.",
         "Sound management calls for an audit before the last of the instalments."),
        ("{p} shall receive {m} of up to EUR {n} million in connection with {s}.",
         "Co-financing shall be {n} % of the eligible expenditure.",
         "Instalments shall be paid once the audit of the {s} account is closed."),
        (), ("funding",)),
    Provision(
        "excise duty", "accise", "customs", ("farm", "sector"),
        "excise duty on {s}", "on the rate of {m} applied to {s}",
        ("excise duties", "excise", "excise rates"),
        ("tax warehouse", "reduced rate", "revenue", "fiscal marks"),
        ("{p} asked leave to apply a reduced rate of {m} to {s}.",
         "Revenue from {s} falls where goods leave the tax warehouse without fiscal marks.",
         "The minimum rates for {s} have not been reviewed since {y}."),
        ("{p} is authorised to apply a reduced rate of {m} to {s} until {d}.",
         "The duty on {s} becomes chargeable on leaving the tax warehouse.",
         "Fiscal marks shall be placed on {s} before release."),
        ("consumer protection",), ("excise",)),
)  # fmt: skip

GENERIC_RECITALS: dict[str, tuple[str, ...]] = {
    "farm": (
        "The market in {s} is marked by strong swings from one season to the next.",
        "The prices recorded for {s} on representative markets call for action.",
        "Trade in {s} should be watched over the whole marketing year.",
        "The arrangements for {s} laid down by {a} have proved their worth.",
    ),
    "fish": (
        "Fishermen who depend on {s} need rules that hold for more than a season.",
        "Research at sea points to a change in the abundance of {s}.",
        "The processing of {s} gives work to many coastal towns.",
        "The rules for {s} laid down by {a} expire at the end of the year.",
    ),
    "goods": (
        "The makers of {s} have asked for rules that hold in the whole internal market.",
        "Demand for {s} fell by {n} % over the period considered.",
        "The arrangements for {s} laid down by {a} should be brought up to date.",
        "Users and dealers of {s} were given the chance to state their views.",
    ),
    "health": (
        "The situation as regards {s} has changed since the adoption of {a}.",
        "The danger from {s} is not the same in all regions.",
        "Laboratories confirmed the presence of {s} on several farms.",
        "Livestock keepers must be told without delay of the danger from {s}.",
    ),
    "nature": (
        "Future generations will judge us by how we dealt with {s}.",
        "The knowledge about {s} gathered under {a} is still patchy.",
        "Local authorities bear the first burden as regards {s}.",
        "The cost of doing nothing about {s} exceeds the cost of action.",
    ),
    "sector": (
        "The market for {s} is not yet fully open.",
        "Undertakings active in {s} face rules that differ from one Member State to another.",
        "The common policy on {s} set out in {a} has entered a new stage.",
        "Staff and users in {s} were heard before this {t} was drawn up.",
    ),
}
"""Recitals that speak of the subject alone."""

GENERIC_ARTICLES: dict[str, tuple[str, ...]] = {
    "farm": (
        "This {t} applies to {s} of the current marketing year.",
        "Operators shall keep separate accounts for {s}.",
    ),
    "fish": (
        "This {t} applies to {s} landed in any port of the Member States.",
        "Sales notes for {s} shall be handed in within {n} hours.",
    ),
    "goods": (
        "This {t} applies to {s} placed on the market after {d}.",
        "Manufacturers shall keep the technical file on {s} for {n} years.",
    ),
    "health": (
        "This {t} applies to all holdings at risk from {s}.",
        "Owners shall report at once any sign of {s}.",
    ),
    "nature": (
        "This {t} applies to {s} in all regions of the Member States.",
        "The public shall have access to what is known about {s}.",
    ),
    "sector": (
        "This {t} applies to undertakings engaged in {s}.",
        "Accounts for {s} shall be kept apart from those for other activities.",
    ),
}

REGARDS: tuple[str, ...] = (
    "Having regard to {a}, and in particular Article {k} thereof,",
    "Having regard to the proposal from the Commission,",
    "Having regard to the opinion of the Economic and Social Committee,",
    "Having consulted the Advisory Committee,",
)

BOILERPLATE_RECITALS: tuple[str, ...] = (
    "It is appropriate to lay down detailed rules and to provide for regular reports.",
    "The Member States should communicate to the Commission the information it needs.",
    "In the interest of clarity the earlier provisions should be replaced.",
    "Administrative burden on operators should be kept to what is necessary.",
    "This {t} should enter into force without delay.",
    "The amendments are of a technical nature and do not change the policy pursued.",
    "Experience has shown that certain provisions of {a} are hard to apply.",
    "The objectives cannot be sufficiently achieved by the Member States alone.",
    "Checks on the spot should be carried out by the national authorities.",
)

DISTRACTOR_RECITALS: tuple[str, ...] = (
    "This {t} is without prejudice to the rules in force on {m} and on {s}.",
    "Similar provisions exist already for {s}, and they need not be repeated here.",
    "Questions of {m} will be dealt with in a separate act.",
    "The case differs from that of {s}, for which {a} provides.",
    "The delegations of {p} and of {q} entered a statement in the minutes.",
    "A comparable request by {p} concerning {s} was turned down in {y}.",
)
"""Passing remarks on concepts that no indexer would assign."""

BOILERPLATE_ARTICLES: tuple[str, ...] = (
    "Member States shall bring into force the laws, regulations and administrative provisions "
    "necessary to comply with this {t} by {d}. They shall forthwith inform the Commission "
    "thereof.",
    "The Commission shall be assisted by a committee composed of representatives of the Member "
    "States. The committee shall adopt its rules of procedure.",
    "Member States shall determine the penalties applicable to infringements. The penalties shall "
    "be effective, proportionate and dissuasive.",
    "{a} is amended as follows: in Article {k}, paragraph 2 is replaced by the text in the Annex.",
    "For the purposes of this {t} the definitions of {a} apply.",
    "The Commission shall report on the application of this {t} by {d} and shall, where "
    "appropriate, make proposals.",
    "{a} is repealed. References to it shall be construed as references to this {t}.",
)

LAST_ARTICLES: dict[str, tuple[str, ...]] = {
    "Regulation": (
        "This Regulation shall enter into force on the day following its publication in the "
        "Official Journal. This Regulation shall be binding in its entirety and directly "
        "applicable in all Member States.",
        "This Regulation shall enter into force on {d}. It shall be binding in its entirety and "
        "directly applicable in all Member States.",
    ),
    "Decision": (
        "This Decision is addressed to the Member States.",
        "This Decision shall apply from {d}. This Decision is addressed to the Member States.",
    ),
    "Directive": (
        "This Directive is addressed to the Member States.",
        "This Directive shall enter into force on {d}. It is addressed to the Member States.",
    ),
}

SIGNATORIES: tuple[str, ...] = (
    "A. HALVERIN", "M. DE ROOSTE", "P. CASTELLANE", "J. O'BRADY", "K. LINDQVER", "T. PAPADOREAS",
    "E. MONTEVARI", "S. VAN DER ELDE", "R. FERREIRINHO", "H. KRAUTHEIM",
)  # fmt: skip
"""Invented names."""

MONTHS: tuple[str, ...] = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip

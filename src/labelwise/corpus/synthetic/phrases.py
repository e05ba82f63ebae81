"""The project's own phrases: the subjects, provisions and places that synthetic acts are about.

Every name, word and sentence here was invented for this generator in the style of EU acts; none
comes from a data set. Slots in sentences: ``{s}`` what the act is about, ``{m}`` the provision,
``{p}`` a place, ``{n}`` a number, ``{d}`` a date, ``{y}`` a year, ``{a}`` another act,
``{k}`` an article's number, ``{t}`` the type of the act.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Family = Literal["farm", "fish", "goods", "health", "nature", "sector"]
"""What sort of thing a subject is; it decides which provisions can fall on it."""


@dataclass(frozen=True)
class Group:
    """A family of subjects, itself a concept: the broader one of its subjects."""

    name: str
    french: str
    family: Family
    microthesaurus: str


@dataclass(frozen=True)
class Subject:
    """What an act is about. ``words`` point to it without being its name; ``forms`` vary the name.

    ``unseen`` subjects never stand in a training act.
    """

    group: str
    name: str
    french: str
    words: tuple[str, ...]
    forms: tuple[str, ...] = ()
    alternatives: tuple[str, ...] = ()
    unseen: bool = False


@dataclass(frozen=True)
class Provision:
    """What an act does to its subject. ``compound`` names the two together, as one concept."""

    name: str
    french: str
    microthesaurus: str
    families: tuple[Family, ...]
    compound: str
    title: str
    forms: tuple[str, ...]
    words: tuple[str, ...]
    recitals: tuple[str, ...]
    articles: tuple[str, ...]
    along: tuple[str, ...] = ()
    alternatives: tuple[str, ...] = ()


@dataclass(frozen=True)
class Country:
    """A country. ``words`` are its adjective and its towns."""

    name: str
    french: str
    region: str
    words: tuple[str, ...]
    unseen: bool = False


DOMAINS: tuple[tuple[str, str], ...] = (
    ("trade", "commerce"),
    ("agriculture and fisheries", "agriculture et pêche"),
    ("industry", "industrie"),
    ("health and environment", "santé et environnement"),
    ("services and energy", "services et énergie"),
    ("geography", "géographie"),
)

MICROTHESAURI: tuple[tuple[str, str, str], ...] = (
    ("external trade", "commerce extérieur", "trade"),
    ("customs", "douane", "trade"),
    ("market organisation", "organisation des marchés", "agriculture and fisheries"),
    ("plant product", "produit végétal", "agriculture and fisheries"),
    ("animal product", "produit animal", "agriculture and fisheries"),
    ("fishing", "pêche maritime", "agriculture and fisheries"),
    ("manufacturing", "industrie manufacturière", "industry"),
    ("technical rules", "réglementation technique", "industry"),
    ("animal health", "santé animale", "health and environment"),
    ("protection of nature", "protection de la nature", "health and environment"),
    ("transport and energy", "transport et énergie", "services and energy"),
    ("finance and competition", "finances et concurrence", "services and energy"),
    ("countries", "pays", "geography"),
)

GROUPS: tuple[Group, ...] = (
    Group("fruit", "fruit", "farm", "plant product"),
    Group("vegetable", "légume", "farm", "plant product"),
    Group("cereals", "céréale", "farm", "plant product"),
    Group("oil crop", "plante oléagineuse", "farm", "plant product"),
    Group("dairy product", "produit laitier", "farm", "animal product"),
    Group("meat", "viande", "farm", "animal product"),
    Group("beverage", "boisson", "farm", "plant product"),
    Group("fishery product", "produit de la pêche", "fish", "fishing"),
    Group("chemical product", "produit chimique", "goods", "manufacturing"),
    Group("metal product", "produit métallique", "goods", "manufacturing"),
    Group("textile product", "produit textile", "goods", "manufacturing"),
    Group("mechanical equipment", "matériel mécanique", "goods", "manufacturing"),
    Group("animal disease", "maladie animale", "health", "animal health"),
    Group("pollution", "pollution", "nature", "protection of nature"),
    Group("wildlife", "vie sauvage", "nature", "protection of nature"),
    Group("mode of transport", "mode de transport", "sector", "transport and energy"),
    Group("energy supply", "approvisionnement énergétique", "sector", "transport and energy"),
    Group("financial services", "services financiers", "sector", "finance and competition"),
)

SUBJECTS: tuple[Subject, ...] = (
    # fruit
    Subject("fruit", "citrus fruit", "agrume",
            ("oranges", "lemons", "mandarins", "clementines", "grapefruit", "satsumas"),
            ("citrus fruits", "fruits of the citrus genus"), ("citrus",)),
    Subject("fruit", "stone fruit", "fruit à noyau",
            ("peaches", "apricots", "plums", "cherries", "nectarines"),
            ("stone fruits", "fruits with a stone")),
    Subject("fruit", "soft fruit", "petit fruit",
            ("strawberries", "raspberries", "currants", "gooseberries", "blackberries"),
            ("soft fruits", "soft berries"), ("berry fruit",)),
    Subject("fruit", "tropical fruit", "fruit tropical",
            ("bananas", "pineapples", "mangoes", "papayas", "avocados"),
            ("tropical fruits", "fruits of tropical origin"), ("exotic fruit",)),
    Subject("fruit", "dried fruit", "fruit sec",
            ("raisins", "prunes", "sultanas", "currants", "figs"),
            ("dried fruits", "fruits in dried form")),
    Subject("fruit", "nut", "fruit à coque",
            ("almonds", "hazelnuts", "walnuts", "pistachios"),
            ("nuts in shell", "shelled nuts"), ("shell fruit",), unseen=True),
    # vegetable
    Subject("vegetable", "root vegetable", "légume-racine",
            ("carrots", "turnips", "beetroot", "radishes", "celeriac"),
            ("root vegetables", "roots of vegetable species")),
    Subject("vegetable", "fruit vegetable", "légume à fruits",
            ("tomatoes", "cucumbers", "courgettes", "aubergines", "sweet peppers"),
            ("fruit vegetables",)),
    Subject("vegetable", "potato", "pomme de terre",
            ("ware tubers", "seed tubers", "starch tubers", "tubers"),
            ("potatoes", "early potatoes")),
    Subject("vegetable", "bulb vegetable", "légume à bulbe",
            ("onions", "garlic", "shallots", "leeks"),
            ("bulb vegetables", "vegetable bulbs"), (), unseen=True),
    # cereals
    Subject("cereals", "common wheat", "blé tendre",
            ("bread-making grain", "flour", "groats", "bran"),
            ("wheat", "soft wheat"), ("soft wheat",)),
    Subject("cereals", "barley", "orge",
            ("malt", "feed grain", "malting grain", "brewing grain"),
            ("barleys", "barley grain")),
    Subject("cereals", "maize", "maïs",
            ("corn cobs", "feed grain", "gluten feed", "sweetcorn"),
            ("maize grain", "grain maize"), ("corn",)),
    Subject("cereals", "rice", "riz",
            ("paddy", "husked grain", "milled grain", "broken grain"),
            ("paddy rice", "husked rices")),
    # oil crop
    Subject("oil crop", "olive oil", "huile d'olive",
            ("virgin oil", "olives", "lampante oil", "pomace", "olive groves"),
            ("oil of olives", "olive oils")),
    Subject("oil crop", "rape seed", "graine de colza",
            ("colza", "oil cake", "erucic varieties", "crushed seed"),
            ("rape seeds", "seeds of rape")),
    Subject("oil crop", "soya bean", "soja",
            ("soya meal", "oil cake", "protein meal", "soya"),
            ("soya beans", "beans of soya"), ("soybean",)),
    # dairy product
    Subject("dairy product", "milk", "lait",
            ("skimmed powder", "whey", "cream", "dairy herds", "whole powder"),
            ("milks", "milk powders"), ()),
    Subject("dairy product", "cheese", "fromage",
            ("curd", "rennet", "ripened rounds", "grated blocks", "rind"),
            ("cheeses",)),
    Subject("dairy product", "butter", "beurre",
            ("butteroil", "churned cream", "milk fat", "concentrated fat"),
            ("butters", "butter fats")),
    # meat
    Subject("meat", "beef", "viande bovine",
            ("bovine carcases", "steers", "heifers", "veal", "forequarters", "hindquarters"),
            ("beef cuts",), ("beef and veal",)),
    Subject("meat", "pigmeat", "viande porcine",
            ("pig carcases", "hams", "bacon", "bellies", "sows"),
            ("pigmeats",), ("pork",)),
    Subject("meat", "poultrymeat", "viande de volaille",
            ("chickens", "turkeys", "ducks", "broilers", "geese"),
            ("poultry", "poultrymeats"), ("poultry meat",)),
    Subject("meat", "egg", "œuf",
            ("laying hens", "hatching trays", "albumen", "yolks", "shell eggs"),
            ("eggs", "eggs in shell")),
    # beverage
    Subject("beverage", "wine", "vin",
            ("vineyards", "grape must", "vines", "vintage", "rosé", "red and white varieties"),
            ("wines", "table wines")),
    Subject("beverage", "spirits", "spiritueux",
            ("brandy", "gin", "distillates", "whisky", "liqueurs"),
            ("spirit drinks", "spirit"), ("spirit drink",)),
    Subject("beverage", "beer", "bière",
            ("hops", "ale", "brewed lots", "lager", "malt"),
            ("beers", "strong beers"), (), unseen=True),
    # fishery product
    Subject("fishery product", "tuna", "thon",
            ("albacore", "skipjack", "bluefin", "yellowfin", "purse seiners"),
            ("tunas", "tuna loins"), ("tunny",)),
    Subject("fishery product", "herring", "hareng",
            ("shoals", "kippers", "drift netters", "pelagic trawlers", "roe"),
            ("herrings", "salted herrings")),
    Subject("fishery product", "cod", "morue",
            ("whitefish", "demersal trawlers", "haddock by-catches", "roe", "long-liners"),
            ("codfish", "cods")),
    Subject("fishery product", "salmon", "saumon",
            ("smolt", "farmed fish", "sea cages", "smoked sides", "gutted fish"),
            ("salmons", "salmonids")),
    Subject("fishery product", "crustacean", "crustacé",
            ("shrimps", "prawns", "lobsters", "crabs", "Norway lobsters"),
            ("crustaceans",), ("shellfish with claws",)),
    Subject("fishery product", "mollusc", "mollusque",
            ("mussels", "oysters", "clams", "squid", "scallops"),
            ("molluscs", "bivalve molluscs"), (), unseen=True),
    # chemical product
    Subject("chemical product", "fertiliser", "engrais",
            ("urea", "ammonium nitrate", "potash", "superphosphates"),
            ("fertilisers", "nitrogenous fertilisers"), ("fertilizer",)),
    Subject("chemical product", "pesticide", "pesticide",
            ("herbicides", "fungicides", "insecticides", "active substances", "spray"),
            ("pesticides",), ("plant protection product",)),
    Subject("chemical product", "pharmaceutical product", "produit pharmaceutique",
            ("tablets", "active substances", "vaccines", "doses", "excipients"),
            ("pharmaceutical products", "pharmaceuticals"), ("medicine",)),
    Subject("chemical product", "plastics", "matière plastique",
            ("polyethylene", "polymer film", "resins", "granules", "polyester"),
            ("plastic", "plastic materials")),
    Subject("chemical product", "cosmetic product", "produit cosmétique",
            ("shampoos", "creams", "perfumes", "sunscreen", "hair dyes"),
            ("cosmetic products", "cosmetics"), ("cosmetic",), unseen=True),
    # metal product
    Subject("metal product", "steel", "acier",
            ("hot-rolled coils", "slabs", "cold-rolled strip", "wire rod", "ingots"),
            ("steels", "steel products")),
    Subject("metal product", "aluminium", "aluminium",
            ("unwrought alloy", "foil", "ingots", "extruded profiles", "smelters"),
            ("aluminium foil", "aluminium alloys")),
    Subject("metal product", "metal pipe", "tube métallique",
            ("tube fittings", "seamless tubes", "flanges", "elbows", "welded tubes"),
            ("metal pipes", "pipes of metal"), ("tube",)),
    # textile product
    Subject("textile product", "cotton", "coton",
            ("ginned lint", "spun yarn", "bed linen", "unbleached fabric", "bales"),
            ("cottons", "cotton fabrics")),
    Subject("textile product", "clothing", "vêtement",
            ("shirts", "trousers", "knitwear", "blouses", "overcoats"),
            ("clothes", "articles of clothing"), ("garment",)),
    Subject("textile product", "footwear", "chaussure",
            ("shoes", "leather uppers", "soles", "slippers", "boots"),
            ("items of footwear",)),
    # mechanical equipment
    Subject("mechanical equipment", "motor vehicle", "véhicule à moteur",
            ("passenger cars", "lorries", "axles", "braking devices", "coaches"),
            ("motor vehicles", "vehicles with a motor"), ("automobile",)),
    Subject("mechanical equipment", "measuring instrument", "instrument de mesure",
            ("weighing machines", "meters", "gauges", "calibrated scales", "taximeters"),
            ("measuring instruments", "instruments for measuring")),
    Subject("mechanical equipment", "electric motor", "moteur électrique",
            ("rotors", "windings", "alternating-current machines", "induction machines"),
            ("electric motors", "motors with electric drive"), (), unseen=True),
    # animal disease
    Subject("animal disease", "foot-and-mouth disease", "fièvre aphteuse",
            ("aphthous lesions", "cloven-hoofed animals", "infected cattle herds", "serotypes"),
            ("foot-and-mouth infection", "aphthous fever"), ("FMD",)),
    Subject("animal disease", "swine fever", "peste porcine",
            ("feverish pigs", "wild boar", "infected piggeries", "pig holdings"),
            ("fever in swine", "swine fevers"), ()),
    Subject("animal disease", "avian influenza", "influenza aviaire",
            ("fowl plague", "infected flocks", "migratory waterfowl", "hatcheries"),
            ("influenza in birds", "influenza of avian type"), ("bird flu",)),
    Subject("animal disease", "rabies", "rage",
            ("rabid foxes", "bitten dogs", "oral baits", "stray cats"),
            ("rabies cases", "cases of rabies"), (), unseen=True),
    # pollution
    Subject("pollution", "hazardous waste", "déchet dangereux",
            ("landfill sites", "toxic residues", "solvents", "incinerators", "sludge"),
            ("hazardous wastes", "wastes of a hazardous kind"), ("dangerous waste",)),
    Subject("pollution", "water pollution", "pollution de l'eau",
            ("rivers", "nitrates", "effluents", "groundwater", "sewage"),
            ("polluted waters", "pollution of water")),
    Subject("pollution", "air pollution", "pollution atmosphérique",
            ("sulphur dioxide", "particulates", "ozone", "smog", "exhaust fumes"),
            ("polluted air", "pollution of the air")),
    Subject("pollution", "noise pollution", "pollution sonore",
            ("decibels", "noisy machines", "sound power", "aircraft noise"),
            ("noise", "pollution by noise"), (), unseen=True),
    # wildlife
    Subject("wildlife", "wild bird", "oiseau sauvage",
            ("nests", "wetlands", "migratory waterfowl", "breeding pairs", "herons"),
            ("wild birds", "birds in the wild")),
    Subject("wildlife", "forest", "forêt",
            ("woodland", "timber stands", "seedlings", "oak and beech", "bark beetles"),
            ("forests", "forested land")),
    # mode of transport
    Subject("mode of transport", "air transport", "transport aérien",
            ("airlines", "airports", "air carriers", "flights", "runways"),
            ("transport by air",), ("aviation",)),
    Subject("mode of transport", "road transport", "transport routier",
            ("hauliers", "lorries", "coaches", "drivers", "tachographs"),
            ("transport by road",), ("haulage",)),
    Subject("mode of transport", "maritime transport", "transport maritime",
            ("shipowners", "seaports", "vessels", "liner conferences", "cargo holds"),
            ("transport by sea",), ("sea transport",)),
    Subject("mode of transport", "rail transport", "transport ferroviaire",
            ("railways", "locomotives", "wagons", "track access", "rolling stock"),
            ("transport by rail",), ("railway",)),
    # energy supply
    Subject("energy supply", "natural gas", "gaz naturel",
            ("gas pipelines", "methane", "compressor stations", "liquefied cargoes"),
            ("gas", "gas of natural origin")),
    Subject("energy supply", "crude oil", "pétrole brut",
            ("barrels", "refineries", "tankers", "petroleum stocks", "drilling rigs"),
            ("crude oils", "crude petroleum"), ("petroleum",)),
    Subject("energy supply", "nuclear energy", "énergie nucléaire",
            ("reactors", "uranium", "fuel rods", "radioactive material", "isotopes"),
            ("energy from nuclear fission",), ("atomic energy",)),
    Subject("energy supply", "electricity", "électricité",
            ("power stations", "transmission grids", "kilowatt-hours", "network operators"),
            ("electric power", "electrical energy")),
    Subject("energy supply", "coal", "charbon",
            ("collieries", "coke", "pits", "briquettes", "miners"),
            ("coals", "hard coals"), (), unseen=True),
    # financial services
    Subject("financial services", "bank", "banque",
            ("credit institutions", "deposits", "loans", "own funds", "lenders"),
            ("banks", "banking"), ("credit institution",)),
    Subject("financial services", "insurance", "assurance",
            ("policyholders", "premiums", "underwriters", "claims", "solvency margins"),
            ("insurers", "insurances")),
    Subject("financial services", "securities", "valeur mobilière",
            ("shares", "bonds", "stock exchanges", "prospectuses", "brokers"),
            ("security holdings",)),
)  # fmt: skip

PLACES: tuple[Country, ...] = (
    Country("Norway", "Norvège", "Europe", ("Norwegian", "Oslo", "Bergen")),
    Country("Iceland", "Islande", "Europe", ("Icelandic", "Reykjavik")),
    Country("Switzerland", "Suisse", "Europe", ("Swiss", "Bern", "Geneva")),
    Country("Turkey", "Turquie", "Europe", ("Turkish", "Ankara", "Izmir")),
    Country("France", "France", "Europe", ("French", "Brittany", "Marseilles")),
    Country("Germany", "Allemagne", "Europe", ("German", "Bavaria", "Hamburg")),
    Country("Italy", "Italie", "Europe", ("Italian", "Sicily", "Genoa")),
    Country("Spain", "Espagne", "Europe", ("Spanish", "Andalusia", "Vigo")),
    Country("Portugal", "Portugal", "Europe", ("Portuguese", "Lisbon", "Azores")),
    Country("Greece", "Grèce", "Europe", ("Greek", "Crete", "Piraeus")),
    Country("Ireland", "Irlande", "Europe", ("Irish", "Cork", "Galway")),
    Country("Denmark", "Danemark", "Europe", ("Danish", "Jutland", "Esbjerg")),
    Country("Finland", "Finlande", "Europe", ("Finnish", "Helsinki", "Lapland"), unseen=True),
    Country("Morocco", "Maroc", "Africa", ("Moroccan", "Rabat", "Agadir")),
    Country("Tunisia", "Tunisie", "Africa", ("Tunisian", "Tunis", "Sfax")),
    Country("Egypt", "Égypte", "Africa", ("Egyptian", "Cairo", "Alexandria")),
    Country("South Africa", "Afrique du Sud", "Africa", ("South African", "Durban", "Pretoria")),
    Country("Kenya", "Kenya", "Africa", ("Kenyan", "Nairobi", "Mombasa"), unseen=True),
    Country("Israel", "Israël", "Asia", ("Israeli", "Haifa")),
    Country("India", "Inde", "Asia", ("Indian", "Delhi", "Madras")),
    Country("China", "Chine", "Asia", ("Chinese", "Beijing", "Shanghai")),
    Country("Japan", "Japon", "Asia", ("Japanese", "Tokyo", "Osaka")),
    Country("Thailand", "Thaïlande", "Asia", ("Thai", "Bangkok")),
    Country("Canada", "Canada", "America", ("Canadian", "Ottawa", "Newfoundland")),
    Country("Brazil", "Brésil", "America", ("Brazilian", "Santos", "Brasilia")),
    Country("Argentina", "Argentine", "America", ("Argentine", "Buenos Aires", "Rosario")),
    Country("Chile", "Chili", "America", ("Chilean", "Valparaiso", "Santiago"), unseen=True),
    Country("New Zealand", "Nouvelle-Zélande", "Oceania", ("Wellington", "Auckland", "Canterbury")),
    Country("Australia", "Australie", "Oceania", ("Australian", "Canberra", "Fremantle")),
)

REGIONS: tuple[tuple[str, str], ...] = (
    ("Europe", "Europe"),
    ("Africa", "Afrique"),
    ("Asia", "Asie"),
    ("America", "Amérique"),
    ("Oceania", "Océanie"),
)

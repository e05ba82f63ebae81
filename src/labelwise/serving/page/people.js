/** Who works here, for admins: names, roles, tokens to sign in with. */

import { store, whoAmI } from "./acts.js";
import * as api from "./api.js";
import { desk } from "./desk.js";
import { $, h } from "./dom.js";
import { say, settled, trouble } from "./messages.js";

const PATH = "v1/desk/people";
const ROLES = ["indexer", "reviewer", "admin"];

const shown = () => document.body.dataset.view === "people";
const of = (name) => `${PATH}/${encodeURIComponent(name)}`;

/** Ask the service for something, and draw whom it names afterwards. */
async function ask(what, asked, again) {
  try {
    const { people } = await asked();
    settled(what);
    if (shown()) draw(people);
    return true;
  } catch (error) {
    trouble(what, error, again);
    return false;
  }
}

const load = () => ask("people", () => api.get(PATH), load);

function draw(people) {
  $("people-none").hidden = people.length > 0;
  if (!people.length) $("person-role").value = "admin";
  $("people-list").replaceChildren(...people.map(row));
}

function row(one) {
  const me = one.name === store.me.name;
  return h(
    "tr",
    { "data-name": one.name },
    h("th", { scope: "row" }, one.name),
    h("td", {}, me ? one.role : roles(one)),
    h("td", { class: "act-on" }, ...(me ? ["you"] : [button("New token", one, renew), button("Remove", one, askRemoval)])),
  );
}

function roles(one) {
  const option = (role) => h("option", { value: role, selected: role === one.role }, role);
  const change = async (event) => {
    const role = event.target.value;
    const done = await ask("person", () => api.put(of(one.name), { role }), null);
    if (done) say(`${one.name} is ${role} now`);
    else load();
  };
  return h("select", { "aria-label": `Role of ${one.name}`, onchange: change }, ...ROLES.map(option));
}

function button(words, one, does) {
  const name = `${words}: ${one.name}`;
  return h("button", { type: "button", class: "plain", "aria-label": name, onclick: () => does(one) }, words);
}

/** Make a person or a new token, and show the token: it is not told again. */
async function renew({ name, role }) {
  try {
    const made = await api.post(PATH, { name, role });
    settled("person");
    $("token-name").textContent = `Token of ${made.name}`;
    $("token-made").textContent = made.token;
    $("token-dialog").showModal();
    return true;
  } catch (error) {
    trouble("person", error, null);
    return false;
  }
}

async function add(event) {
  event.preventDefault();
  const name = $("person-name").value.trim();
  if (name && (await renew({ name, role: $("person-role").value }))) $("person-name").value = "";
}

function askRemoval({ name }) {
  $("remove-what").textContent = `${name} will not be able to sign in any more. What ${name} decided stays.`;
  $("remove-sure").onclick = async () => {
    $("remove-dialog").close();
    if (await ask("person", () => api.remove(of(name)), null)) say(`${name} was removed`);
  };
  $("remove-dialog").showModal();
}

/** After the first person was named one signs in: whoever was here without a name has none now. */
async function tokenSeen() {
  $("token-made").textContent = "";
  try {
    if (store.me.signed_in || (await whoAmI())) await load();
    else location.reload();
  } catch (error) {
    trouble("people", error, load);
  }
}

export function startPeople() {
  $("person-form").addEventListener("submit", add);
  $("token-dialog").addEventListener("close", tokenSeen);
  $("token-copy").addEventListener("click", async () => {
    await navigator.clipboard.writeText($("token-made").textContent);
    say("Copied");
  });
  desk.on("worklist", () => shown() && load());
  desk.on("me", () => {
    document.body.dataset.admin = String(store.me?.role === "admin");
  });
}

/** Who works here: sign in with a token, sign out. */

import { store, useSession, whoAmI } from "./acts.js";
import * as api from "./api.js";
import { desk } from "./desk.js";
import { $ } from "./dom.js";
import { sentence, trouble } from "./messages.js";

let asking = null; // one dialog, however many requests were refused

/** Ask for a token until one is right. */
function signIn() {
  asking ??= new Promise((done) => {
    $("signin-form").onsubmit = async (event) => {
      event.preventDefault();
      try {
        useSession(await api.post("v1/desk/session", { token: $("token").value.trim() }));
        $("token").value = "";
        $("signin-dialog").close();
        asking = null;
        done();
      } catch (error) {
        $("signin-problem").textContent = sentence(error);
      }
    };
    $("signin-problem").textContent = "";
    $("signin-dialog").showModal();
  });
  return asking;
}

function drawMe() {
  const { me } = store;
  $("me").textContent = me ? `${me.name} · ${me.role}` : "";
  $("sign-out").hidden = !me?.signed_in;
}

async function signOut() {
  try {
    useSession(await api.remove("v1/desk/session"));
    location.hash = "#/worklist";
    desk.close();
    await signIn();
    desk.dispatchEvent(new Event("worklist"));
  } catch (error) {
    trouble("signin", error, signOut);
  }
}

/** Nobody works at a desk with a worklist before it is known who they are. */
export async function knowMe() {
  if (!(await whoAmI())) await signIn();
}

export function startSignIn() {
  api.hooks.signIn = signIn;
  $("signin-dialog").addEventListener("cancel", (event) => event.preventDefault());
  $("sign-out").addEventListener("click", signOut);
  desk.on("me", drawMe);
}

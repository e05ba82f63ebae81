"use strict";
// The page works without this script; it adds keys and the weights of every label on hover.
const picks = [...document.querySelectorAll(".pick")];
const chosen = () => picks.findIndex((pick) => pick.checked);
const choose = (number) => {
  const pick = picks[(number + picks.length) % picks.length];
  if (!pick) return;
  pick.checked = true;
  if (picks.includes(document.activeElement)) pick.focus({ preventScroll: true });
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key >= "1" && event.key <= "9" && Number(event.key) <= picks.length) choose(Number(event.key) - 1);
  else if (event.key === "ArrowRight") choose(chosen() + 1);
  else if (event.key === "ArrowLeft") choose(chosen() - 1);
  else if (event.key === "Escape") hide();
  else return;
  event.preventDefault();
});

const names = [...document.querySelectorAll(".labels .name")].map((name) => name.textContent);
const tip = document.createElement("div");
tip.className = "tip";
tip.hidden = true;
document.body.append(tip);
const hide = () => { tip.hidden = true; };
const percent = (weight) => `${weight > 0 ? "+" : "−"}${(100 * Math.abs(weight)).toFixed(1)} %`;

document.addEventListener("pointerover", (event) => {
  const mark = event.target.closest && event.target.closest("mark");
  if (!mark) return hide();
  mark.removeAttribute("title");
  tip.replaceChildren(...mark.dataset.w.split(" ").map((entry) => {
    const [number, weight] = entry.split(":").map(Number);
    const row = document.createElement("div");
    const name = document.createElement("span");
    const value = document.createElement("span");
    name.textContent = names[number];
    value.textContent = percent(weight);
    if (number === chosen()) row.className = "on";
    row.append(name, value);
    return row;
  }));
  tip.hidden = false;
  const at = mark.getClientRects()[0];
  const left = Math.min(at.left, document.documentElement.clientWidth - tip.offsetWidth - 8);
  const above = at.top - tip.offsetHeight - 6;
  // Through the object model: the page's policy allows no style attributes.
  tip.style.left = `${Math.max(8, left)}px`;
  tip.style.top = `${above > 4 ? above : at.bottom + 6}px`;
});
document.addEventListener("scroll", hide, { passive: true });

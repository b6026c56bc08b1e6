// Day or night, as the person chose or as the computer is set. Runs before the page is drawn.
const root = document.documentElement;
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const chosen = () => localStorage.getItem("look") ?? (dark.matches ? "night" : "day");
const apply = () => { root.dataset.look = chosen(); };
apply();
dark.addEventListener("change", apply);
document.addEventListener("DOMContentLoaded", () => {
  const button = document.getElementById("look");
  if (!button) return;
  const name = () => { button.textContent = chosen() === "night" ? button.dataset.day : button.dataset.night; };
  button.hidden = false;
  name();
  button.addEventListener("click", () => {
    localStorage.setItem("look", chosen() === "night" ? "day" : "night");
    apply();
    name();
  });
});

// The camera's picture of now, while the table gives one.
const button = document.getElementById("camera");
const figure = document.getElementById("now");
const refusal = document.getElementById("refusal");
let showing = false;

const picture = figure.querySelector("img");
let next = 0;
const again = () => { clearTimeout(next); next = setTimeout(show, 700); };
picture.addEventListener("load", () => { figure.hidden = !showing; refusal.textContent = ""; again(); });
picture.addEventListener("error", async () => {
  figure.hidden = true;
  const answer = await fetch("/technician/picture", { cache: "no-store" }).catch(() => null);
  refusal.textContent = answer && !answer.ok ? await answer.text() : "";
  again();
});

function show() {
  if (showing) picture.src = `/technician/picture?${performance.now().toFixed(0)}`;
}

button.addEventListener("click", () => {
  showing = !showing;
  button.setAttribute("aria-pressed", String(showing));
  if (!showing) figure.hidden = true;
  show();
});

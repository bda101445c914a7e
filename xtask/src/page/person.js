// Uses the page of a report as a person does, and writes down what comes of it: one line each, "yes: …" or "no: …".
const seen = [];
const see = (what, holds) => seen.push((holds ? "yes: " : "no: ") + what);
const rows = () => [...document.querySelectorAll(".requirement")];
const shown = () => rows().filter((row) => !row.hidden);
const change = (element, act) => {
  act(element);
  element.dispatchEvent(new Event("input", { bubbles: true }));
};
const box = document.getElementById("search");

see("filters are shown", !document.getElementById("filters").hidden);
see("everything is shown at first", rows().length > 10 && shown().length === rows().length);
change(box, (box) => { box.value = "phase-0.abort"; });
see("a search finds what it names", shown().length >= 1 && shown().length < rows().length
  && shown().every((row) => (row.closest(".feature").textContent).includes("phase-0.abort")));
change(box, (box) => { box.value = "no such words anywhere"; });
see("a search for nothing hides all", shown().length === 0);
change(box, (box) => { box.value = ""; });
const proven = document.querySelector("input[name=state][value=proven]");
change(proven, (box) => { box.checked = false; });
see("a state that is not wanted is hidden", shown().every((row) => row.dataset.state !== "proven")
  && shown().length < rows().length);
change(proven, (box) => { box.checked = true; });
const cell = [...document.querySelectorAll(".cell")].find((cell) => !cell.closest("details").open);
location.hash = cell.id;
reveal();
see("a link opens its cell", cell.closest("details").open);
const width = document.documentElement.clientWidth;
see("nothing is wider than the window", document.documentElement.scrollWidth <= width + 1);
const controls = [...document.querySelectorAll("a[href], summary, input")];
see("the keys reach every control", controls.length > 20 && controls.every((control) => control.tabIndex >= 0)
  && [...document.querySelectorAll("[role=region]")].every((region) => region.tabIndex === 0));

const list = document.createElement("ul");
list.id = "seen";
for (const line of seen) {
  const item = document.createElement("li");
  item.textContent = line;
  list.append(item);
}
document.body.append(list);

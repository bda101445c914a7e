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
const told = () => [...document.querySelectorAll(".told")].filter((cell) => !cell.hidden);
const cells = told().length;
change(box, (box) => { box.value = document.querySelector(".told .name").textContent; });
see("a search narrows the cells, too", told().length >= 1 && told().length < cells);
change(box, (box) => { box.value = ""; });
see("a bullet inside of a range is found", spread("000 §1 bullets 23-25").includes(" 24 "));
const area = document.getElementById("area");
change(area, (area) => { area.value = area.options[1].value; });
see("an area narrows the requirements", shown().length >= 1
  && shown().every((row) => row.dataset.area === area.value));
change(area, (area) => { area.value = ""; });
const adapter = document.getElementById("adapter");
change(adapter, (adapter) => { adapter.value = "1"; });
see("an adapter can be looked at alone", told().some((cell) => cell.closest("section").hidden)
  && told().some((cell) => !cell.closest("section").hidden));
change(adapter, (adapter) => { adapter.value = ""; });
const closed = () => document.querySelectorAll(".feature:not([open])").length;
const before = closed();
dispatchEvent(new Event("beforeprint"));
const onPaper = closed();
dispatchEvent(new Event("afterprint"));
see("every requirement is printed", onPaper === 0 && closed() === before);
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

/* Names the buttons that open a part of the navigation, which have only a picture. */
document.addEventListener("DOMContentLoaded", () => {
  for (const button of document.querySelectorAll("nav details > summary")) {
    const page = button.closest("li").querySelector("a");
    button.setAttribute("aria-label", `Pages below ${page.textContent.trim()}`);
  }
});

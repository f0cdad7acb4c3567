const { hash } = location
/** @type {NodeListOf<HTMLAnchorElement>} */
const links = document.querySelectorAll('[data-elsewhere]')
for (const link of links) link.hash = hash
if (hash) history.replaceState(null, '', location.pathname + location.search)

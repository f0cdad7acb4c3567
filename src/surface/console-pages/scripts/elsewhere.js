// Takes the token of a link along to the address to which passkeys belong.

const { hash } = location
/** @type {NodeListOf<HTMLAnchorElement>} */
const links = document.querySelectorAll('[data-elsewhere]')
for (const link of links) link.hash = hash
if (hash) history.replaceState(null, '', location.pathname + location.search)

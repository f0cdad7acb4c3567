// Makes the page quicker to use; without it, the page still reads well, and the search has a page of its own.
// Loads before the body, so that the first paint has the chosen colours.

const root = document.documentElement

const kept = {
  read(name) {
    try {
      return localStorage.getItem(name)
    } catch {
      return null
    }
  },
  write(name, value) {
    try {
      localStorage.setItem(name, value)
    } catch {
      // A browser may store nothing. Then the choice lasts as long as the page.
    }
  },
}

root.classList.add('script')
root.dataset.language = kept.read('language') ?? 'curl'
const theme = kept.read('theme')
if (theme) root.dataset.theme = theme

const isDark = () =>
  (root.dataset.theme ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark'

function switchTheme() {
  root.dataset.theme = isDark() ? 'light' : 'dark'
  kept.write('theme', root.dataset.theme)
}

function chooseLanguage(language) {
  root.dataset.language = language
  kept.write('language', language)
  showLanguage()
}

/** Samples without the chosen language show their first one. */
function showLanguage() {
  for (const samples of document.querySelectorAll('.samples')) {
    const languages = samples.dataset.languages.split(' ')
    const { language } = root.dataset
    const shown = languages.includes(language) ? language : languages[0]
    for (const button of samples.querySelectorAll('[data-choose]'))
      button.setAttribute('aria-pressed', String(button.dataset.choose === shown))
  }
}

function addCopyButtons() {
  for (const caption of document.querySelectorAll('.panel figcaption')) {
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'copy'
    button.textContent = 'Copy'
    caption.append(button)
  }
}

async function copy(button) {
  const done = await writeClipboard(button.closest('.panel').querySelector('pre')).catch(() => false)
  button.textContent = done ? 'Copied' : 'Not copied'
  setTimeout(() => {
    button.textContent = 'Copy'
  }, 1500)
}

/** Over plain HTTP, browsers offer only the old API, except on localhost. */
async function writeClipboard(element) {
  if (!navigator.clipboard) {
    getSelection().selectAllChildren(element)
    return document.execCommand('copy')
  }
  await navigator.clipboard.writeText(element.textContent)
  return true
}

let search

/** The search, its library and its documents are fetched when they are first needed, and kept in memory. */
function loadedSearch() {
  search ??= Promise.all([import(root.dataset.search), allDocuments()])
    .then(([{ createSearch }, documents]) => createSearch(documents))
    .catch(() => {
      search = undefined
      return null
    })
  return search
}

const allDocuments = () =>
  fetch(root.dataset.documents).then(response =>
    response.ok ? response.json() : Promise.reject(response.status),
  )

function element(name, className, ...content) {
  const made = document.createElement(name)
  if (className) made.className = className
  made.append(...content)
  return made
}

function linkTo({ address, title, page, method, snippet }) {
  const link = element('a', '', element('b', '', title))
  link.href = address
  if (method) link.append(' ', element('span', `method ${method.toLowerCase()}`, method))
  link.append(
    ' ',
    element('small', '', page),
    element(
      'span',
      'snippet',
      ...snippet.map((piece, n) => (n % 2 === 1 ? element('mark', '', piece) : piece)),
    ),
  )
  return element('li', '', link)
}

function wordsOf({ count, isNearest }) {
  if (count === 0) return 'Nothing found'
  if (isNearest) return 'Nothing has all words. The nearest pages:'
  return count === 1 ? '1 result' : `${count} results`
}

function startSearch() {
  const field = document.getElementById('search')
  const results = document.getElementById('results')
  const status = element('p', 'counted')
  status.setAttribute('role', 'status')
  results.append(status)

  const show = found => {
    results.hidden = found === undefined
    root.classList.toggle('searching', found !== undefined)
    status.textContent = found ? wordsOf(found) : ''
    const groups = (found?.groups ?? []).flatMap(({ title, pages }) => [
      element('h2', '', title),
      element('ul', 'hits', ...pages.map(linkTo)),
    ])
    results.replaceChildren(status, ...groups)
    results.scrollTop = 0
  }

  const look = async () => {
    const query = field.value
    if (query.trim() === '') return show(undefined)
    const find = await loadedSearch()
    if (field.value !== query) return
    if (find) return show(find(query))
    show({ count: 0, groups: [] })
    status.textContent = 'The search could not be loaded. Press Enter for the page of results.'
  }

  const links = () => [...results.querySelectorAll('a')]
  const close = () => {
    show(undefined)
    field.blur()
  }

  field.addEventListener('focus', () => void loadedSearch())
  field.addEventListener('input', () => void look())
  field.addEventListener('keydown', event => {
    if (event.key === 'Escape') {
      field.value = ''
      close()
    }
    if (event.key !== 'ArrowDown' || results.hidden) return
    event.preventDefault()
    links()[0]?.focus()
  })
  field.form.addEventListener('submit', async event => {
    event.preventDefault()
    await look()
    const [first] = links()
    if (results.hidden) return
    if (first) first.click()
    else field.form.submit()
  })
  results.addEventListener('keydown', event => {
    if (event.key === 'Escape') close()
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (!step) return
    event.preventDefault()
    const all = links()
    const next = all[all.indexOf(event.target.closest('a')) + step]
    ;(next ?? (step < 0 ? field : event.target)).focus()
  })
  document.addEventListener('click', event => {
    const isAway = !event.target.closest('#results, .search')
    if (!results.hidden && (isAway || event.target.closest('#results a'))) show(undefined)
  })
  return field
}

const OLD = ['/docs/api/', '/docs/', '/docs/errors/']

/** The reference was one page once, then one page a chapter. Its old anchors lead to the present pages. */
async function followOldAnchor() {
  const anchor = decodeURIComponent(location.hash.slice(1))
  if (!anchor || document.getElementById(anchor)) return
  const documents = await allDocuments().catch(() => [])
  const address = documents
    .map(one => one.address)
    .find(
      one => one.endsWith(`#${anchor}`) || OLD.some(place => one === place + anchor.replace(/^error\./, '')),
    )
  if (address) location.replace(address)
}

function followReading() {
  const here = link => link.hash && link.pathname === location.pathname && document.getElementById(idOf(link))
  const links = new Map(
    [...document.querySelectorAll('#contents a')].filter(here).map(link => [idOf(link), link]),
  )
  const current = () => document.querySelector('#contents [aria-current=location]')
  const mark = id => {
    const link = links.get(id)
    if (!link || link === current()) return
    current()?.removeAttribute('aria-current')
    link.setAttribute('aria-current', 'location')
    link.scrollIntoView({ block: 'nearest' })
  }
  const inSight = new Set()
  const observer = new IntersectionObserver(
    entries => {
      for (const { isIntersecting, target } of entries)
        if (isIntersecting) inSight.add(target.id)
        else inSight.delete(target.id)
      mark([...links.keys()].find(id => inSight.has(id)))
    },
    { rootMargin: '-80px 0px -75% 0px' },
  )
  for (const id of links.keys()) observer.observe(document.getElementById(id))
}

const idOf = link => decodeURIComponent(link.hash.slice(1))

/** The link of the page itself may be far down in the contents. */
const showCurrentPage = () =>
  document.querySelector('#contents [aria-current=page]')?.scrollIntoView({ block: 'center' })

function nameService() {
  const { placeholder } = root.dataset
  if (!placeholder) return
  const walker = document.createTreeWalker(document.getElementById('content'), NodeFilter.SHOW_TEXT)
  while (walker.nextNode()) {
    const text = walker.currentNode
    if (text.data.includes(placeholder)) text.data = text.data.replaceAll(placeholder, location.origin)
  }
}

document.addEventListener('DOMContentLoaded', () => {
  nameService()
  addCopyButtons()
  showLanguage()
  const field = startSearch()
  showCurrentPage()
  followReading()
  void followOldAnchor()
  addEventListener('hashchange', () => void followOldAnchor())

  document.addEventListener('click', event => {
    const button = event.target.closest('button')
    if (button?.matches('.theme')) switchTheme()
    if (button?.matches('.copy')) void copy(button)
    if (button?.dataset.choose) chooseLanguage(button.dataset.choose)
  })
  document.addEventListener('keydown', event => {
    if (event.key !== '/' || event.target.matches('input') || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    field.focus()
  })
})

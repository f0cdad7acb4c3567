// Makes the page quicker to use; without it, the page still reads well. Loads before the body, so that the
// first paint has the chosen colours.

import { allWith, nearestTo } from './ranking.js'

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

function showLanguage() {
  for (const button of document.querySelectorAll('[data-choose]'))
    button.setAttribute('aria-pressed', String(button.dataset.choose === root.dataset.language))
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

let index

/** The search index is fetched when it is first needed, and kept in memory. */
function allFindable() {
  index ??= fetch(root.dataset.index)
    .then(response => (response.ok ? response.json() : Promise.reject(response.status)))
    .catch(() => {
      index = undefined
      return null
    })
  return index
}

const addressOf = ({ section, anchor }) => `/docs${section && `/${section}`}${anchor && `#${anchor}`}`

function linkTo(entry) {
  const link = document.createElement('a')
  link.href = addressOf(entry)
  link.className = entry.kind
  const title = document.createElement('span')
  title.textContent = entry.title
  link.append(title)
  if (entry.method) {
    const method = document.createElement('span')
    method.className = `method ${entry.method.toLowerCase()}`
    method.textContent = entry.method
    link.append(method)
  }
  const item = document.createElement('li')
  item.append(link)
  return item
}

/** The most results shown. With more, another letter helps better. */
const SHOWN = 100

function startSearch() {
  const field = document.getElementById('search')
  const found = document.getElementById('found')
  const results = document.getElementById('results')
  const contents = document.getElementById('contents')

  const is = kind => hit => hit.kind === kind
  const counted = (hits, kind) => {
    const count = hits.filter(is(kind)).length
    return `${count === 0 ? 'no' : count} ${kind}${count === 1 ? '' : 's'}`
  }

  const show = (hits, words, isNearest = false) => {
    results.hidden = words.length === 0
    contents.hidden = words.length > 0
    results.replaceChildren(...hits.slice(0, SHOWN).map(linkTo))
    const kinds = [
      'operation',
      'event',
      ...['guide', 'refusal', 'setting'].filter(kind => hits.some(is(kind))),
    ]
    const counts = kinds.map(kind => counted(hits, kind)).join(', ')
    const told = isNearest ? `Nothing has all of these words. Nearest: ${counts}` : counts
    found.textContent = words.length > 0 ? told : ''
  }

  const look = async () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean)
    if (words.length === 0) return show([], words)
    const asked = field.value
    const all = await allFindable()
    if (field.value !== asked) return
    if (!all) {
      found.textContent = 'The index could not be fetched. Try again.'
      return
    }
    const hits = allWith(words, all)
    const nearest = hits.length === 0 ? nearestTo(words, all) : []
    show(nearest.length > 0 ? nearest : hits, words, nearest.length > 0)
  }

  field.addEventListener('focus', () => void allFindable())
  field.addEventListener('input', () => void look())
  field.addEventListener('keydown', async event => {
    if (event.key === 'Escape') {
      field.value = ''
      show([], [])
      field.blur()
    }
    if (event.key !== 'Enter' && event.key !== 'ArrowDown') return
    event.preventDefault()
    await look()
    const first = results.querySelector('a')
    if (event.key === 'Enter') first?.click()
    else first?.focus()
  })
  results.addEventListener('keydown', event => {
    const item = event.target.closest('li')
    const next = { ArrowDown: item?.nextElementSibling, ArrowUp: item?.previousElementSibling ?? field }[
      event.key
    ]
    if (!next) return
    event.preventDefault()
    const focusable = next.querySelector?.('a') ?? next
    focusable.focus()
  })
  return field
}

/** The reference was one page once. Its old anchors redirect to the present pages. */
async function followOldAnchor() {
  const anchor = decodeURIComponent(location.hash.slice(1))
  if (!anchor || document.getElementById(anchor)) return
  const entry = (await allFindable())?.find(one => one.anchor === anchor)
  if (entry) location.replace(addressOf(entry))
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
  const search = startSearch()
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
    if (getComputedStyle(search).visibility === 'hidden') location.hash = 'menu'
    search.focus()
  })
})

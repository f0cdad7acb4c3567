import { readFileSync } from 'node:fs'
import { clock, formatMinute } from '../../values/clock.ts'
import { type Html, html } from '../../web/html.ts'
import { baseStyle, createAssetFinder, pageAsset, pageIcon, timeStyle } from '../../web/page-assets.ts'
import { refusalPageStyle } from '../../web/refusal-page.ts'
import { firstScript, sharedScript } from '../console-pages/index.ts'
import { consoleScript, preloadedScripts } from './browser/browser.ts'
import type { ConsoleSection, PageRequest, RenderedPage } from './page.ts'
import { humanize, renderText } from './parts/text.ts'

const read = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8')

const sheets = ['frame', 'parts', 'forms', 'decide', 'money', 'charts', 'lists', 'scripts', 'touch']

export const consoleFrameStyle = pageAsset(
  'console',
  'css',
  [baseStyle(), timeStyle(), ...sheets.map(name => read(`styles/${name}.css`))].join('\n'),
)
const icon = pageAsset('console', 'svg', pageIcon())

/** Also serves the style of refusal pages, which have no operation of their own. */
export const consoleAsset = createAssetFinder([consoleFrameStyle, icon, refusalPageStyle])

type Navigation = readonly (readonly [group: string, sections: Readonly<Record<string, ConsoleSection>>])[]

interface Line {
  readonly path: string
  readonly elsewhere: Html
  readonly here: Html
}

interface Group {
  readonly heading: string
  readonly lines: readonly Line[]
}

const groupsOf = new WeakMap<PageRequest['actor']['scopes'], Map<string, readonly Group[]>>()

function navigationOf(navigation: Navigation, request: PageRequest): Html {
  const { actor, path, to } = request
  const ofRole = groupsOf.get(actor.scopes) ?? new Map<string, readonly Group[]>()
  groupsOf.set(actor.scopes, ofRole)
  const groups = ofRole.get(to('')) ?? groupsFor(navigation, request)
  ofRole.set(to(''), groups)
  const section = path.split('/', 2).join('/')
  return html`<details class="navigation"><summary>Menu</summary>
<nav aria-label="Sections">${groups.map(
    ({ heading, lines }) =>
      html`${heading !== '' && html`<h2>${heading}</h2>`}<ul>${lines.map(line => (line.path === section ? line.here : line.elsewhere))}</ul>`,
  )}</nav></details>`
}

function groupsFor(navigation: Navigation, { may, to }: PageRequest): Group[] {
  const line = (path: string, title: string): Line => ({
    path,
    elsewhere: html`<li><a href="${to(path)}">${title}</a></li>`,
    here: html`<li><a href="${to(path)}" aria-current="page">${title}</a></li>`,
  })
  const groups = navigation.map(([heading, sections]) => {
    const seen = Object.entries(sections).filter(([, { needs }]) => !needs || may(needs))
    return { heading, lines: seen.map(([name, { title }]) => line(`console/${name}`, title)) }
  })
  return [
    { heading: '', lines: [line('console', 'Home')] },
    ...groups.filter(({ lines }) => lines.length > 0),
  ]
}

export function renderConsoleFrame(
  { title, content, onward }: RenderedPage,
  navigation: Navigation,
  request: PageRequest,
  health: string | undefined,
): Html {
  const { to, tenant } = request
  const { head, banner } = constantsOf(request)
  return html`<!doctype html>
<html lang="en" class="${tenant.mode}" data-root="${to('')}" data-person="${request.actor.id ?? ''}">
<head>
<meta charset="utf-8">
<title>${title} · Console</title>
${onward !== undefined && html`<meta http-equiv="refresh" content="0; url=${to(onward)}">`}
${head}
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
${tenant.mode === 'test' && html`<section class="mode" aria-label="Mode">Test mode: no real money moves${movedClock(request)}</section>`}
<header>
${banner}
${person(request)}
</header>
${health !== undefined && html`<p class="health" role="status">${health}</p>`}
<div class="columns">
${navigationOf(navigation, request)}
<main id="content" tabindex="-1">
<noscript><p class="lead">Without JavaScript this page is read-only. Turn it on to make changes and to approve with a passkey.</p></noscript>
<p id="stream" role="status"></p>
<p id="news" role="status"></p>
<p id="trouble" role="alert" data-incomplete="The page did not load completely, so your last action was not done. Reload the page."></p>
${content}
</main>
</div>
</body>
</html>
`
}

interface Constants {
  readonly head: Html
  readonly banner: Html
}

const constants = new Map<string, Constants>()

function constantsOf({ to }: PageRequest): Constants {
  const root = to('')
  const known = constants.get(root) ?? { head: headFrom(to), banner: bannerFrom(to) }
  constants.set(root, known)
  return known
}

type Way = PageRequest['to']

const headFrom = (to: Way): Html => html`<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<script src="${to('login/assets/')}${firstScript.name}"></script>
<link rel="icon" href="${to('console/assets/')}${icon.name}" type="image/svg+xml">
<link rel="stylesheet" href="${to('console/assets/')}${consoleFrameStyle.name}">
<link rel="manifest" href="${to('console/manifest.webmanifest')}">
<script type="module" src="${to('console/scripts/')}${consoleScript.name}"></script>
<link rel="modulepreload" href="${to('login/assets/')}${sharedScript.name}">
${preloadedScripts.map(({ name }) => html`<link rel="modulepreload" href="${to('console/scripts/')}${name}">`)}`

const bannerFrom = (
  to: Way,
): Html => html`<a class="brand" href="${to('console')}"><img src="${to('console/assets/')}${icon.name}" alt="" width="22" height="22"> Agent Payments</a>
<form class="search" role="search" action="${to('console/search')}"><label class="unseen" for="search">Search</label><input id="search" type="search" name="q" maxlength="200" placeholder="Search, or any ID"></form>`

const CLOCK_SLACK_MS = 1_500

const movedClock = ({ now }: PageRequest): string =>
  now.getTime() - clock.milliseconds() > CLOCK_SLACK_MS
    ? `. The test clock is ahead: ${formatMinute(now)}`
    : ''

function person({ actor, to }: PageRequest): Html {
  const { scopes, name } = actor
  const role = scopes.has('people:write') ? 'owner' : scopes.has('intents:approve') ? 'approver' : 'viewer'
  return html`<details class="person"><summary>${renderText(name, 40)}</summary><div>
<p>${humanize(role)}</p>
<p><a href="${to('console/settings')}">Settings</a></p>
<p><button type="button" data-action="sign-out">Sign out</button></p>
</div></details>`
}

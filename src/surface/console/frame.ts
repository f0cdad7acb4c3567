import { clock, minuteInWords } from '../../values/clock.ts'
import { type Content, type Html, html } from '../../web/html.ts'
import { sharedScript } from '../console-pages/index.ts'
import { icon, style } from './assets.ts'
import { consoleScript, firstScript, preloadedScripts } from './browser/scripts.ts'
import type { PageRequest, Section, Shown } from './page.ts'
import { text, words } from './parts/text.ts'

/** The groups of the navigation, with the sections in each. */
export type Navigation = readonly (readonly [group: string, sections: Readonly<Record<string, Section>>])[]

/** The whole document around a page: navigation, search, whose account it is and in which mode, and its health. */
export function frame(
  { title, content, onward }: Shown,
  navigation: Navigation,
  request: PageRequest,
  health: string | undefined,
): Html {
  const { to, tenant } = request
  const assets = to('console/assets/')
  return html`<!doctype html>
<html lang="en" class="${tenant.mode}" data-root="${to('')}" data-person="${request.actor.id ?? ''}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
${onward !== undefined && html`<meta http-equiv="refresh" content="0; url=${to(onward)}">`}
<title>${title} · Console</title>
<script src="${to('console/scripts/')}${firstScript.name}"></script>
<link rel="icon" href="${assets}${icon.name}" type="image/svg+xml">
<link rel="stylesheet" href="${assets}${style.name}">
<link rel="manifest" href="${to('console/manifest.webmanifest')}">
<script type="module" src="${to('console/scripts/')}${consoleScript.name}"></script>
<link rel="modulepreload" href="${to('login/assets/')}${sharedScript.name}">
${preloadedScripts.map(({ name }) => html`<link rel="modulepreload" href="${to('console/scripts/')}${name}">`)}
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
${tenant.mode === 'test' && html`<section class="mode" aria-label="Mode">Test mode: no real money moves here${movedClock(request)}</section>`}
<header>
<a class="brand" href="${to('console')}"><img src="${assets}${icon.name}" alt="" width="22" height="22"> Agent Payments</a>
<form class="search" role="search" action="${to('console/search')}"><label class="unseen" for="search">Search</label><input id="search" type="search" name="q" maxlength="200" placeholder="Search, or any id"></form>
${person(request)}
</header>
${health !== undefined && html`<p class="health" role="status">${health}</p>`}
<div class="columns">
${navigationOf(navigation, request)}
<main id="content" tabindex="-1">
<noscript><p class="lead">Without scripts this can be read. What changes something, and approving with a passkey, needs them.</p></noscript>
<p id="stream" role="status"></p>
<p id="news" role="status"></p>
<p id="trouble" role="alert"></p>
${content}
</main>
</div>
</body>
</html>
`
}

/** By how far the test clock may be off through rounding. */
const CLOCK_SLACK_MS = 1_500

/** The time of the test clock, where it is not the real one. */
const movedClock = ({ now }: PageRequest): string =>
  now.getTime() - clock.milliseconds() > CLOCK_SLACK_MS
    ? `. The test clock is moved: it is ${minuteInWords(now)} here`
    : ''

function person({ actor, to }: PageRequest): Html {
  const { scopes, name } = actor
  const role = scopes.has('people:write') ? 'owner' : scopes.has('intents:approve') ? 'approver' : 'viewer'
  return html`<details class="person"><summary>${text(name, 40)}</summary><div>
<p>${words(role)}</p>
<p><a href="${to('console/settings')}">Settings</a></p>
<p><button type="button" data-action="sign-out">Sign out</button></p>
</div></details>`
}

function navigationOf(navigation: Navigation, request: PageRequest): Html {
  const { may, path, to } = request
  const link = (name: string, { title }: Section): Content => {
    const isHere = path === `console/${name}` || path.startsWith(`console/${name}/`)
    return html`<li><a href="${to(`console/${name}`)}"${isHere && html` aria-current="page"`}>${title}</a></li>`
  }
  const groups = navigation.map(([group, sections]) => {
    const seen = Object.entries(sections).filter(([, { needs }]) => !needs || may(needs))
    return (
      seen.length > 0 && html`<h2>${group}</h2><ul>${seen.map(([name, section]) => link(name, section))}</ul>`
    )
  })
  return html`<details class="navigation"><summary>Menu</summary>
<nav aria-label="Sections"><ul><li><a href="${to('console')}"${path === 'console' && html` aria-current="page"`}>Home</a></li></ul>${groups}</nav></details>`
}

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { renderDocument } from '../../web/document.ts'
import { type Html, html } from '../../web/html.ts'
import { createAssetFinder, pageAsset, pageIcon, pageStyle } from '../../web/page-assets.ts'
import { refusalPageStyle } from '../../web/refusal-page.ts'
import { firstScript, sharedScript } from '../console-pages/index.ts'
import { consoleScript, preloadedScripts } from './browser/browser.ts'
import { renderAccountMenu, renderPlaces, renderTabs } from './navigation.ts'
import type { PageRequest, RenderedPage } from './page.ts'
import { advancedClock } from './pages/account/clock.ts'
import { renderIcon } from './parts/icons.ts'

const read = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8')

const sheets = ['frame', 'parts', 'forms', 'decide', 'money', 'charts', 'lists', 'scripts', 'touch']

const fontPath = '@fontsource-variable/inter/files/inter-latin-wght-normal.woff2'
const font = pageAsset('inter', 'woff2', readFileSync(createRequire(import.meta.url).resolve(fontPath)))

/** Letters that it lacks, and all of them until it is there, are those of the system. */
const fontFace = `@font-face {
  font-family: Inter;
  font-weight: 100 900;
  font-display: swap;
  src: url(${font.name}) format('woff2');
}`

export const consoleFrameStyle = pageAsset(
  'console',
  'css',
  [fontFace, pageStyle(), ...sheets.map(name => read(`styles/${name}.css`))].join('\n'),
)
const icon = pageAsset('console', 'svg', pageIcon())

/** Also serves the style of refusal pages, which have no operation of their own. */
export const consoleAsset = createAssetFinder([consoleFrameStyle, font, icon, refusalPageStyle])

interface FrameParts {
  readonly health?: string | undefined
  /** The number beside *Inbox*. */
  readonly waiting?: Html | undefined
  readonly hasOtherMode?: boolean | undefined
}

export function renderConsoleFrame(
  { title, content, onward }: RenderedPage,
  request: PageRequest,
  { health, waiting, hasOtherMode = false }: FrameParts = {},
): Html {
  const { to, tenant } = request
  const { head, banner } = constantsOf(request)
  return renderDocument({
    language: 'en',
    title: `${title} · Console`,
    style: to('console/assets/') + consoleFrameStyle.name,
    icon: to('console/assets/') + icon.name,
    firstScript: to('login/assets/') + firstScript.name,
    attributes: html` class="${tenant.mode}" data-root="${to('')}" data-person="${request.actor.id ?? ''}"${advancedClock(request) !== undefined && html` data-now="${request.now.toISOString()}"`}`,
    head: html`${onward !== undefined && html`<meta http-equiv="refresh" content="0; url=${to(onward)}">`}
${head}`,
    body: html`<a class="skip" href="#content">Skip to content</a>
${tenant.mode === 'test' && testBar(request)}
<header class="top">
${banner}
${renderAccountMenu(request, hasOtherMode)}
</header>
${renderPlaces(request, waiting)}
<main id="content" tabindex="-1">
${renderTabs(request)}
${health !== undefined && html`<p class="health" role="status">${health}</p>`}
<noscript><p class="lead">Without JavaScript this page is read-only. Turn it on to make changes and to approve with a passkey.</p></noscript>
<p id="stream" role="status"></p>
<p id="news" role="status"></p>
<p id="trouble" role="alert" data-incomplete="The page did not load completely, so your last action was not done. Reload the page."></p>
${content}
</main>`,
  })
}

/** Times on every page follow the test clock, so the bar says where it is ahead. */
function testBar(request: PageRequest): Html {
  const ahead = advancedClock(request)
  const clock =
    ahead !== undefined &&
    html`. <a href="${request.to('console/clock')}">The test clock is ahead: ${ahead}</a>`
  return html`<section class="mode" aria-label="Mode">Test mode: no real money moves${clock}</section>`
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

const headFrom = (to: Way): Html => html`<link rel="manifest" href="${to('console/manifest.webmanifest')}">
<script type="module" src="${to('console/scripts/')}${consoleScript.name}"></script>
<link rel="modulepreload" href="${to('login/assets/')}${sharedScript.name}">
${preloadedScripts.map(({ name }) => html`<link rel="modulepreload" href="${to('console/scripts/')}${name}">`)}`

const bannerFrom = (
  to: Way,
): Html => html`<a class="brand" href="${to('console')}" aria-label="Agent Payments"><img src="${to('console/assets/')}${icon.name}" alt="" width="24" height="24"> <span>Agent Payments</span></a>
<a class="find" href="${to('console/search')}" data-palette>${renderIcon('search')}<span>Search or ask</span><kbd>/</kbd></a>`

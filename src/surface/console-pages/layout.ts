import { renderDocument } from '../../web/document.ts'
import { type Html, type HtmlContent, html, htmlToText } from '../../web/html.ts'
import { formatMinuteIn, type Language } from '../../web/language.ts'
import {
  type consolePageScripts,
  consolePagesIcon,
  consolePagesStyle,
  firstScript,
  webauthnScript,
} from './assets.ts'
import { refusalTexts } from './refusal-texts.ts'
import { consolePageTexts } from './texts.ts'
import type { DisplayedRole } from './texts-en.ts'

export interface SignedInViewer {
  readonly name: string
  readonly role: DisplayedRole
}

interface PageParts {
  readonly language: Language
  readonly title: string
  readonly content: HtmlContent
  /** The relative path to the root of the service, so that addresses also work below a path. */
  readonly root: './' | '../' | '../../'
  readonly script?: (typeof consolePageScripts)[keyof typeof consolePageScripts]
  readonly viewer?: SignedInViewer
  readonly isWide?: boolean
  readonly isTest?: boolean
}

export function renderConsolePageLayout({
  language,
  title,
  content,
  root,
  script,
  viewer,
  isWide,
  isTest,
}: PageParts): Html {
  const { frame, script: words } = consolePageTexts[language]
  const assets = `${root}login/assets/`
  const scriptWords = JSON.stringify({ ...words, refusals: refusalTexts(language) })
  return renderDocument({
    language,
    title: `${title} · ${frame.brand}`,
    style: assets + consolePagesStyle.name,
    icon: assets + consolePagesIcon.name,
    attributes: html`${isTest === true && html` class="test"`} data-root="${root}" data-words="${script !== undefined && scriptWords}"`,
    ...(script && {
      firstScript: assets + firstScript.name,
      head: html`<link rel="modulepreload" href="${assets}${webauthnScript.name}">
<script src="${assets}${script.name}" type="module"></script>`,
    }),
    body: html`<a class="skip" href="#content">${frame.skip}</a>
<header>
  <span class="brand"><img src="${assets}${consolePagesIcon.name}" alt="" width="24" height="24"> ${frame.brand}</span>
  ${viewer && signedIn(viewer, language)}
</header>
<main id="content" tabindex="-1"${isWide === true && html` class="wide"`}>
${
  script &&
  html`<noscript><p class="test">${frame.noScript}</p></noscript>
<p id="news" role="status"></p>
<p id="trouble" role="alert" data-incomplete="${frame.incomplete}"></p>`
}
${content}
</main>`,
  })
}

function signedIn({ name, role }: SignedInViewer, language: Language): Html {
  const { roles, signOut } = consolePageTexts[language].frame
  return html`<div class="session"><span class="who"><bdi>${htmlToText(name, 60)}</bdi> · ${roles[role]}</span>
  <button type="button" data-action="sign-out" hidden>${signOut}</button></div>`
}

interface Notice extends Pick<PageParts, 'title' | 'script'> {
  readonly mark?: string
  readonly text: HtmlContent
  readonly link?: Html
}

export const noticePage = (
  language: Language,
  root: PageParts['root'],
  { mark, title, text, link, script }: Notice,
): Html =>
  renderConsolePageLayout({
    language,
    title,
    root,
    ...(script ? { script } : {}),
    content: html`${mark !== undefined && html`<p class="mark unknown">${mark}</p>`}
<h1>${title}</h1>
<p class="lead">${text}</p>
${link && html`<p>${link}</p>`}`,
  })

/** Shows the time zone of Frankfurt; where scripts run, the page shows the reader's own zone. */
export const renderLocalizedTime = (language: Language, at: Date, place?: 'in a sentence'): Html =>
  html`<time datetime="${at.toISOString()}"${place !== undefined && html` data-in-sentence`}>${formatMinuteIn(language, at)}</time>`

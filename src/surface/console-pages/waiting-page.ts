import type { Cents } from '../../values/money.ts'
import { type Html, html, htmlToText } from '../../web/html.ts'
import { formatAmountIn, type Language } from '../../web/language.ts'
import { consolePageScripts } from './assets.ts'
import { renderConsolePageLayout, renderLocalizedTime, type SignedInViewer } from './layout.ts'
import { consolePageTexts } from './texts.ts'

export interface WaitingIntent {
  readonly id: string
  readonly amountCents: Cents
  readonly payee: string
  readonly purpose: string
  readonly agent: string
  readonly expiresAt: Date
  /** Null if one person approves. */
  readonly steps: { readonly given: number; readonly needed: number } | null
}

export interface WaitingView {
  readonly intents: readonly WaitingIntent[]
  readonly hasMore: boolean
  readonly isTest: boolean
  readonly viewer: SignedInViewer
}

export function renderWaitingPage(
  { intents, hasMore, isTest, viewer }: WaitingView,
  language: Language,
): Html {
  const { waiting, frame } = consolePageTexts[language]
  return renderConsolePageLayout({
    language,
    title: waiting.title,
    root: './',
    script: consolePageScripts.waiting,
    viewer,
    isTest,
    content: html`
<h1 tabindex="-1">${waiting.title}</h1>
<p class="lead">${intents.length === 0 ? waiting.none : waiting.lead}</p>
${isTest && html`<p class="test">${frame.test}</p>`}
${intents.length > 0 && html`<ul class="plain waiting">${intents.map(intent => line(intent, language))}</ul>`}
${hasMore && html`<p class="hint">${waiting.more}</p>`}`,
  })
}

function line(
  { id, amountCents, payee, purpose, agent, expiresAt, steps }: WaitingIntent,
  language: Language,
): Html {
  const { approve, waiting } = consolePageTexts[language]
  return html`<li><a href="approve/${id}"><strong>${formatAmountIn(language, amountCents)} ${approve.to} <bdi>${htmlToText(payee, 80)}</bdi></strong>
<span>${approve.purpose} <bdi>${htmlToText(purpose, 160)}</bdi></span>
<span>${approve.agent} <bdi>${htmlToText(agent, 60)}</bdi>, ${waiting.until} ${renderLocalizedTime(language, expiresAt)}${steps !== null && `. ${approve.steps.count(steps.given, steps.needed)}`}</span></a></li>`
}

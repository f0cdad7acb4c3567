import type { Cents } from '../../values/money.ts'
import { type Html, html, plainText } from '../../web/html.ts'
import { amountIn, type Language } from '../../web/language.ts'
import { scripts } from './assets.ts'
import { layout, timeIn, type Viewer } from './layout.ts'
import { texts } from './texts.ts'

export interface WaitingIntent {
  readonly id: string
  readonly amountCents: Cents
  readonly payee: string
  readonly purpose: string
  readonly agent: string
  readonly expiresAt: Date
}

export interface WaitingView {
  readonly intents: readonly WaitingIntent[]
  readonly hasMore: boolean
  readonly isTest: boolean
  readonly viewer: Viewer
}

export function waitingPage({ intents, hasMore, isTest, viewer }: WaitingView, language: Language): Html {
  const { waiting, frame } = texts[language]
  return layout({
    language,
    title: waiting.title,
    root: './',
    script: scripts.waiting,
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
  { id, amountCents, payee, purpose, agent, expiresAt }: WaitingIntent,
  language: Language,
): Html {
  const { approve, waiting } = texts[language]
  return html`<li><a href="approve/${id}"><strong>${amountIn(language, amountCents)} ${approve.to} <bdi>${plainText(payee, 80)}</bdi></strong>
<span>${approve.purpose} <bdi>${plainText(purpose, 160)}</bdi></span>
<span>${approve.agent} <bdi>${plainText(agent, 60)}</bdi>, ${waiting.until} ${timeIn(language, expiresAt)}</span></a></li>`
}

import { type Html, html, htmlToText } from '../../web/html.ts'
import type { Language } from '../../web/language.ts'
import { consolePageScripts } from './assets.ts'
import { renderConsolePageLayout, renderLocalizedTime, type SignedInViewer } from './layout.ts'
import { consolePageTexts } from './texts.ts'
import type { PairingState } from './texts-en.ts'

const NAME = 100

export interface PairingView {
  readonly code: string
  readonly state: PairingState
  readonly pairingCode: string
  readonly deviceName: string
  readonly address: string | null
  readonly createdAt: Date
  readonly expiresAt: Date
  readonly mayDoAll: boolean
  readonly scopes: readonly string[]
  readonly toolWrites: boolean
  readonly isTest: boolean
  readonly viewer: SignedInViewer
}

export function renderPairingPage(view: PairingView, language: Language): Html {
  const { pairing, frame } = consolePageTexts[language]
  const { state } = view
  return renderConsolePageLayout({
    language,
    title: pairing.title,
    root: '../',
    script: consolePageScripts.pairing,
    viewer: view.viewer,
    isTest: view.isTest,
    content: html`
<div id="pairing" data-code="${view.code}" data-state="${state}">
  <p class="mark ${state === 'pending' ? 'created' : state}">${pairing.marks[state]}</p>
  <h1 id="heading" tabindex="-1">${state === 'pending' ? pairing.title : pairing.ended[state]}</h1>
  ${state === 'pending' ? question(view, language) : html`<p class="lead">${pairing.hints[state]}</p>`}
  ${view.isTest && html`<p class="test">${frame.test}</p>`}
  <p class="home"><a href="../approve">${frame.home}</a></p>
</div>`,
  })
}

function question(view: PairingView, language: Language): Html {
  const { pairing } = consolePageTexts[language]
  return html`<p class="lead">${pairing.lead}</p>
<p class="box pair" aria-label="${pairing.codeIs} ${view.pairingCode.split('').join(' ')}" role="img">${view.pairingCode}</p>
<p class="test">${pairing.onlyIf}</p>
${details(view, language)}
${decision(view, language)}`
}

function details(view: PairingView, language: Language): Html {
  const { pairing, frame } = consolePageTexts[language]
  const minute = (at: Date) => renderLocalizedTime(language, at)
  return html`<section class="box" aria-labelledby="details">
  <h2 id="details">${pairing.details}</h2>
  <dl>
    <div><dt>${pairing.device}</dt><dd><bdi>${htmlToText(view.deviceName, NAME)}</bdi></dd></div>
    ${view.address !== null && html`<div><dt>${pairing.address}</dt><dd class="number">${view.address}</dd></div>`}
    <div><dt>${pairing.asked}</dt><dd>${minute(view.createdAt)}</dd></div>
    <div><dt>${pairing.until}</dt><dd>${minute(view.expiresAt)}</dd></div>
    <div><dt>${pairing.rights}</dt><dd>${view.mayDoAll ? pairing.allRights : pairing.rightsOf(frame.roles[view.viewer.role])}${!view.mayDoAll && rightsList(view, language)}</dd></div>
  </dl>
  ${view.toolWrites && html`<p class="test">${pairing.toolWrites}</p>`}
</section>`
}

const rightsList = ({ scopes }: PairingView, language: Language): Html =>
  html`<details><summary>${consolePageTexts[language].pairing.whichRights(scopes.length)}</summary><p class="hint">${scopes.join(', ')}</p></details>`

function decision({ code }: PairingView, language: Language): Html {
  const { approve, join, pairing } = consolePageTexts[language]
  return html`<section class="box" aria-labelledby="decide" data-decision hidden>
  <h2 id="decide">${approve.decide}</h2>
  <p id="signed">${approve.youSign}</p>
  <blockquote lang="en" data-sentence aria-labelledby="signed"></blockquote>
  <button type="button" class="main" data-action="approve">${pairing.approve}</button>
  <p data-no-passkey hidden><a href="../join?to=${encodeURIComponent(`/cli/${code}`)}">${join.passkeyTitle}</a></p>
  <p class="deny"><button type="button" class="against" data-action="deny">${pairing.deny}</button></p>
</section>`
}

import { readFileSync } from 'node:fs'
import { type Cents, subtractCents } from '../../../values/money.ts'
import { renderDocument } from '../../../web/document.ts'
import { type Html, html } from '../../../web/html.ts'
import { formatAmountIn, formatMinuteIn, type Language } from '../../../web/language.ts'
import { createAssetFinder, pageAsset, pageIcon, pageStyle } from '../../../web/page-assets.ts'
import type { EpcTransfer } from './epc-code.ts'
import { type PayerPageState, payerPageTexts } from './texts.ts'

const ownStyle = readFileSync(new URL('page.css', import.meta.url), 'utf8')

export const payerPageStyle = pageAsset('pay', 'css', `${pageStyle()}\n${ownStyle}`)
const icon = pageAsset('pay', 'svg', pageIcon())

export const payerPageAsset = createAssetFinder([payerPageStyle, icon])

export interface PayerPageView {
  readonly id: string
  readonly state: PayerPageState
  readonly isTest: boolean
  readonly payee: string
  readonly purpose: string
  readonly amountCents: Cents
  readonly paidCents: Cents
  readonly expiresAt: Date
  readonly transfer: EpcTransfer | null
  readonly program: { readonly mppUrl: string; readonly payUrl: string } | null
}

/** Works without scripts, and loads only from this service. */
export function renderPayerPage(view: PayerPageView, language: Language): Html {
  const { state, payee, purpose, amountCents, isTest } = view
  const words = payerPageTexts[language]
  const amount = formatAmountIn(language, amountCents)
  return layout(
    language,
    `${amount} ${words.to} ${payee}`,
    html`
<section class="summary" aria-labelledby="heading">
  <p class="mark ${state}">${words.stateLabels[state]}</p>
  <h1 id="heading"><span class="amount">${amount}</span> <span class="payee">${words.to} <bdi>${payee}</bdi></span></h1>
  <p class="purpose"><span>${words.purpose}</span> <bdi>${purpose}</bdi></p>
  ${stateText(view, language)}
  ${isTest && html`<p class="test">${words.test}</p>`}
</section>
${state === 'open' && ways(view, language)}
<footer><p>${words.request} <code>${view.id}</code></p></footer>`,
  )
}

function stateText({ state, expiresAt, amountCents, paidCents }: PayerPageView, language: Language): Html {
  const words = payerPageTexts[language]
  if (state !== 'open') return html`<p class="meaning">${words.stateHints[state]}</p>`
  const [paid, due] = [paidCents, subtractCents(amountCents, paidCents)].map(amount =>
    formatAmountIn(language, amount),
  )
  return html`<p class="until">${words.payBy} <time datetime="${expiresAt.toISOString()}">${formatMinuteIn(language, expiresAt)}</time></p>
  ${paidCents > 0n && html`<p class="meaning">${words.partlyPaid(String(paid), String(due))}</p>`}`
}

function ways(view: PayerPageView, language: Language): Html {
  const { transfer, program, id } = view
  if (!transfer && !program) return html`<p class="noway">${payerPageTexts[language].notPayable}</p>`
  return html`${transfer ? transferWay(transfer, id, language) : undefined}
${program ? programWay(program, language) : undefined}`
}

function transferWay(transfer: EpcTransfer, id: string, language: Language): Html {
  const words = payerPageTexts[language]
  const { name, iban, bic, amountCents, reference } = transfer
  return html`
<section class="way transfer" aria-labelledby="transfer">
  <h2 id="transfer">${words.transfer}</h2>
  <dl>
    <div><dt>${words.holder}</dt><dd><bdi>${name}</bdi></dd></div>
    <div><dt>IBAN</dt><dd class="number">${inGroupsOfFour(iban)}</dd></div>
    ${bic !== null && html`<div><dt>BIC</dt><dd class="number">${bic}</dd></div>`}
    <div><dt>${words.amount}</dt><dd class="number">${formatAmountIn(language, amountCents)}</dd></div>
    <div><dt>${words.reference}</dt><dd class="number">${inGroupsOfFour(reference)}<p class="hint">${words.referenceHint}</p></dd></div>
  </dl>
  <figure>
    <img src="${id}/qr.svg" alt="${words.code}" width="240" height="240">
    <figcaption>${words.codeHint}</figcaption>
  </figure>
</section>`
}

const inGroupsOfFour = (text: string): Html =>
  html`<span class="whole">${(text.match(/.{1,4}/g) ?? []).join(' ')}</span>`

function programWay({ mppUrl, payUrl }: NonNullable<PayerPageView['program']>, language: Language): Html {
  const words = payerPageTexts[language]
  const example = [
    `curl ${payUrl} \\`,
    `  -H 'Authorization: Bearer at_…' \\`,
    `  --json '{"intentId":"intent_…","url":`,
    `"${mppUrl}"}'`,
  ].join('\n')
  return html`
<section class="way" aria-labelledby="program">
  <h2 id="program">${words.program}</h2>
  <p>${words.programHint}</p>
  <pre><code><span class="whole">${mppUrl}</span></code></pre>
  <p>${words.programExample}</p>
  <pre><code>${example}</code></pre>
</section>`
}

export function renderUnknownRequestPage(language: Language): Html {
  const { unknown, unknownHint } = payerPageTexts[language]
  return layout(
    language,
    unknown,
    html`
<section class="summary">
  <p class="mark cancelled">404</p>
  <h1>${unknown}</h1>
  <p class="meaning">${unknownHint}</p>
</section>`,
  )
}

/** Uses relative addresses, so that the page also works below a path. */
const layout = (language: Language, title: string, content: Html): Html =>
  renderDocument({
    language,
    title,
    style: `assets/${payerPageStyle.name}`,
    icon: `assets/${icon.name}`,
    body: html`<main>
${content}
</main>`,
  })

import { type Html, html } from '../../web/html.ts'
import { amountIn, type Language } from '../../web/language.ts'
import type { ApprovalView, ShownCheck } from './approval-view.ts'
import { plainText } from './plain-text.ts'
import { germanReason, ruleName, unitOf } from './rule-words.ts'
import { texts } from './texts.ts'

/** The rules that ask a person, and what every limit still leaves. */
export function rulesOf({ reasons, limits, state }: ApprovalView, language: Language): Html {
  const { approve } = texts[language]
  const asks = state === 'created' && reasons.length > 0
  return html`${
    asks &&
    html`<section class="box" aria-labelledby="reasons">
  <h2 id="reasons">${approve.reasons}</h2>
  <ul class="plain">${reasons.map(check => reason(check, language))}</ul>
</section>`
  }
${
  state === 'created' &&
  html`<section class="box" aria-labelledby="limits">
  <h2 id="limits">${approve.limits}</h2>
  ${limits.length === 0 ? html`<p>${approve.noLimits}</p>` : html`<ul class="plain pairs">${limits.map(check => limit(check, language))}</ul>`}
</section>`
}`
}

function reason({ rule, message, limit, used }: ShownCheck, language: Language): Html {
  const limitInWords = limit === null ? '' : euros(language, limit)
  const german = language === 'de' ? germanReason(rule, { limit: limitInWords, used }) : undefined
  const words = german ?? html`<bdi${language === 'de' && html` lang="en"`}>${plainText(message)}</bdi>`
  return html`<li><strong>${ruleName(rule, language)}</strong> ${words}</li>`
}

const limit = (check: ShownCheck, language: Language): Html =>
  html`<li><strong>${ruleName(check.rule, language)}</strong> <span class="number">${leftIn(check, language)}</span></li>`

function leftIn({ rule, remaining, limit }: ShownCheck, language: Language): string {
  const { approve } = texts[language]
  const unit = unitOf(rule)
  if (unit === 'minutes') return approve.leftMinutes(remaining ?? 0)
  if (unit === 'payments') return approve.leftCount(remaining ?? 0, limit ?? 0)
  return approve.left(euros(language, remaining ?? 0), euros(language, limit ?? 0))
}

/** Figures of checks are euros as numbers, exact to the cent. */
const euros = (language: Language, figure: number): string =>
  amountIn(language, BigInt(Math.round(figure * 100)))

import { type Content, type Html, html } from '../../web/html.ts'
import { amountIn, type Language } from '../../web/language.ts'
import { plainText } from '../../web/plain-text.ts'
import type { ApprovalView, ShownCheck } from './approval-view.ts'
import { germanReason, ruleName, unitOf } from './rule-words.ts'
import { texts } from './texts.ts'

/** The rules that ask a person, those that are against it, what holds up the payment, and what every limit still leaves. */
export function rulesOf(
  { reasons, obstacles, notices, limits, state }: ApprovalView,
  language: Language,
): Content {
  if (state !== 'created') return undefined
  const { approve } = texts[language]
  const lines = limits.map(check => limit(check, language))
  return [
    reasons.length > 0 &&
      box(
        'reasons',
        approve.reasons,
        html`<ul class="plain">${reasons.map(check => reason(check, language))}</ul>`,
      ),
    obstacles.length > 0 &&
      box(
        'obstacles',
        approve.obstacles,
        html`<ul class="plain">${obstacles.map(check => said(check, language))}</ul>`,
      ),
    notices.length > 0 &&
      box(
        'notices',
        approve.notices,
        html`<ul class="plain">${notices.map(check => said(check, language))}</ul>`,
      ),
    box(
      'limits',
      approve.limits,
      lines.length === 0 ? html`<p>${approve.noLimits}</p>` : html`<ul class="plain pairs">${lines}</ul>`,
    ),
  ]
}

const box = (
  id: string,
  title: string,
  content: Html,
): Html => html`<section class="box" aria-labelledby="${id}">
  <h2 id="${id}">${title}</h2>
  ${content}
</section>
`

const said = ({ rule, message }: ShownCheck, language: Language): Html =>
  html`<li><strong>${ruleName(rule, language)}</strong> ${inEnglish(message, language)}</li>`

/** The rules speak English: a German page says so to screen readers. */
const inEnglish = (message: string, language: Language): Html =>
  html`<bdi${language === 'de' && html` lang="en"`}>${plainText(message)}</bdi>`

function reason({ rule, message, limit, used }: ShownCheck, language: Language): Html {
  const limitInWords = limit === null ? '' : euros(language, limit)
  const german = language === 'de' ? germanReason(rule, { limit: limitInWords, used }) : undefined
  const words = german ?? inEnglish(message, language)
  return html`<li><strong>${ruleName(rule, language)}</strong> ${words}</li>`
}

const limit = (check: ShownCheck, language: Language): Html =>
  html`<li><strong>${ruleName(check.rule, language)}</strong> <span class="number">${leftIn(check, language)}</span></li>`

function leftIn({ rule, remaining, limit }: ShownCheck, language: Language): string {
  const { approve } = texts[language]
  const unit = unitOf(rule)
  if (unit === 'minutes') return approve.leftMinutes(remaining ?? 0)
  if (unit === 'payments') return approve.leftCount(remaining ?? 0, limit ?? 0)
  if (rule === 'maxTransactionEuros') return approve.each(euros(language, limit ?? 0))
  return approve.left(euros(language, remaining ?? 0), euros(language, limit ?? 0))
}

/** Figures of checks are euros as numbers, exact to the cent. */
const euros = (language: Language, figure: number): string =>
  amountIn(language, BigInt(Math.round(figure * 100)))

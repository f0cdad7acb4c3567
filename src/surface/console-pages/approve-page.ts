import { policyRuleTable } from '../../control/rules/index.ts'
import { jsonName } from '../../values/json-names.ts'
import { roundCents } from '../../values/money.ts'
import { type Html, type HtmlContent, html, htmlToText } from '../../web/html.ts'
import { formatAmountIn, type Language } from '../../web/language.ts'
import { INSTANT, isolatedName, renderApprovalSteps, renderSentenceWithTime } from './approval-steps.ts'
import { consolePageScripts } from './assets.ts'
import { renderConsolePageLayout, renderLocalizedTime } from './layout.ts'
import { refusalTexts } from './refusal-texts.ts'
import { germanDenialReason, limitUnitOfRule, ruleName } from './rule-texts.ts'
import { consolePageTexts } from './texts.ts'
import type { ApprovalView, DisplayedCheck } from './views.ts'

const HEADLINE = 80

export function renderApprovePage(view: ApprovalView, language: Language): Html {
  const { approve } = consolePageTexts[language]
  const payee = htmlToText(view.payee, HEADLINE)
  const amount = formatAmountIn(language, view.amountCents)
  return renderConsolePageLayout({
    language,
    title: `${amount} ${approve.to} ${payee}`,
    root: '../',
    script: consolePageScripts.approve,
    viewer: view.viewer,
    isTest: view.isTest,
    isWide: true,
    content: html`
<div id="intent" data-intent="${view.id}" data-version="${view.version}">
<section aria-labelledby="heading">
  <p class="mark ${view.state}">${approve.marks[view.state]}</p>
  <h1 id="heading" tabindex="-1"><span class="amount">${amount}</span> <span class="payee">${approve.to} <bdi>${payee}</bdi></span></h1>
  <p class="purpose"><span>${approve.purpose}</span> <bdi>${htmlToText(view.purpose)}</bdi></p>
  ${statusLine(view, language)}
  ${view.isTest && html`<p class="test">${consolePageTexts[language].frame.test}</p>`}
</section>
<div class="columns">
<aside aria-label="${approve.decide}">
${view.state === 'created' ? decision(view, language) : proof(view, language)}
</aside>
<div>
${rulesOf(view, language)}
${details(view, language)}
</div>
</div>
<p class="home"><a href="../approve">${consolePageTexts[language].frame.home}</a></p>
<footer><p>Intent <code>${view.id}</code></p></footer>
</div>`,
  })
}

function statusLine(view: ApprovalView, language: Language) {
  const { state, expiresAt, decidedAt, decidedBy, comment, payment, isPaidAtOnce, steps } = view
  const { approve } = consolePageTexts[language]
  if (state === 'created')
    return html`<p class="until">${approve.decideBy} ${renderLocalizedTime(language, expiresAt)}</p>
  ${renderApprovalSteps(steps, expiresAt, language)}
  ${isPaidAtOnce && html`<p class="until">${approve.paidAtOnce}</p>`}`
  const by = decidedBy ? nameOf(decidedBy, language) : ''
  // Where a step ended, the comment is by the service, in English.
  const words = steps !== null && decidedBy?.type === 'policy' ? approve.steps.tooFew : comment
  return html`<p class="meaning">${renderSentenceWithTime(approve.ends[state](by, INSTANT), decidedAt, language)}</p>
  ${renderApprovalSteps(steps, expiresAt, language)}
  ${payment !== null && html`<p class="until">${paymentText(view, payment, language)}</p>`}
  ${words !== null && html`<p class="until">${approve.comment}: <bdi>${htmlToText(words)}</bdi></p>`}`
}

function paymentText(
  { paidCents, amountCents }: ApprovalView,
  payment: NonNullable<ApprovalView['payment']>,
  language: Language,
): string {
  const { approve } = consolePageTexts[language]
  if (payment !== 'completed' || paidCents === null || paidCents === amountCents)
    return approve.payments[payment]
  return approve.paid(formatAmountIn(language, paidCents), formatAmountIn(language, amountCents))
}

function nameOf({ type, name }: NonNullable<ApprovalView['decidedBy']>, language: Language): string {
  const kinds: Readonly<Record<string, string>> = consolePageTexts[language].approve.deciders
  const kind = kinds[type]
  if (name === null) return kind ?? type
  const isolated = isolatedName(name)
  return kind === undefined ? isolated : `${kind} (${isolated})`
}

function details(view: ApprovalView, language: Language): Html {
  const { approve } = consolePageTexts[language]
  const { amountCents, largestCents, run, createdAt } = view
  return html`<section class="box" aria-labelledby="details">
  <h2 id="details">${approve.details}</h2>
  <dl>
    <div><dt>${approve.payee}</dt><dd><bdi>${htmlToText(view.payee)}</bdi><p class="hint">${approve.ways[view.way]}</p></dd></div>
    ${view.iban !== null && html`<div><dt>IBAN</dt><dd class="number">${formatIban(view.iban)}</dd></div>`}
    ${
      largestCents > amountCents &&
      html`<div><dt>${approve.atMost}</dt><dd class="number">${formatAmountIn(language, largestCents)}<p class="hint">${approve.atMostHint}</p></dd></div>`
    }
    <div><dt>${approve.agent}</dt><dd><bdi>${htmlToText(view.agent)}</bdi></dd></div>
    ${run !== null && html`<div><dt>${approve.run}</dt><dd><bdi>${htmlToText(run.name)}</bdi></dd></div>`}
    <div><dt>${approve.account}</dt><dd><bdi>${htmlToText(view.account)}</bdi></dd></div>
    <div><dt>${approve.asked}</dt><dd>${renderLocalizedTime(language, createdAt)}</dd></div>
  </dl>
</section>`
}

const formatIban = (iban: string): string => (iban.match(/.{1,4}/g) ?? []).join(' ')

function decision({ id, mayDecide, viewer, obstacles, notAsked }: ApprovalView, language: Language): Html {
  const { approve, frame, join } = consolePageTexts[language]
  if (!mayDecide) return html`<p class="box">${approve.mayNot(frame.roles[viewer.role])}</p>`
  return html`<section class="box" aria-labelledby="decide" data-decision hidden>
  <h2 id="decide">${approve.decide}</h2>
  ${notAsked !== undefined && html`<p>${refusalTexts(language)[notAsked]}</p>`}
  ${obstacles.length > 0 ? blocked(obstacles, language) : notAsked === undefined && signing(language)}
  <div data-no-passkey hidden>
    <p>${approve.noPasskey}</p>
    <p><a class="button main" href="../join?to=${encodeURIComponent(`/approve/${id}`)}">${join.passkeyTitle}</a></p>
  </div>
  <form class="deny" method="dialog" data-action="deny">
    <label for="reason">${approve.reason}</label>
    <textarea id="reason" name="reason" rows="2" maxlength="1000" required></textarea>
    <button class="against">${approve.deny}</button>
  </form>
</section>`
}

const signing = (language: Language): Html => {
  const { approve } = consolePageTexts[language]
  return html`<p id="signed">${approve.youSign}</p>
  <blockquote lang="en" data-sentence aria-labelledby="signed"></blockquote>
  <button type="button" class="main" data-action="approve">${approve.approve}</button>`
}

/** In the place of what would be signed: why the service would refuse, and how to change it. */
const blocked = (obstacles: ApprovalView['obstacles'], language: Language): Html =>
  html`<p><strong>${consolePageTexts[language].approve.obstacles}</strong></p>
  <ul class="plain">${obstacles.map(check => checkItem(check, language, remedyOf(check)))}</ul>`

const remedyOf = ({ rule }: DisplayedCheck): string =>
  policyRuleTable.find(({ name, alias }) => name === rule || alias === rule)?.remedy ?? ''

function proof({ id, hasProof }: ApprovalView, language: Language): Html | undefined {
  if (!hasProof) return undefined
  const { approve } = consolePageTexts[language]
  return html`<section class="box" aria-labelledby="proof">
  <h2 id="proof">${approve.proof}</h2>
  <p><a class="button" href="../intents/${id}/approval">${approve.proofLink}</a></p>
  <p class="hint">${approve.proofHint}</p>
  <p class="hint"><code>GET /intents/${id}/approval</code></p>
</section>`
}

function rulesOf(
  { reasons, obstacles, notices, limits, state, mayDecide }: ApprovalView,
  language: Language,
): HtmlContent {
  if (state !== 'created') return undefined
  const { approve } = consolePageTexts[language]
  const lines = limits.map(check => limit(check, language))
  return [
    reasons.length > 0 &&
      box(
        'reasons',
        approve.reasons,
        html`<ul class="plain">${reasons.map(check => reason(check, language))}</ul>`,
      ),
    obstacles.length > 0 &&
      !mayDecide &&
      box(
        'obstacles',
        approve.obstacles,
        html`<ul class="plain">${obstacles.map(check => checkItem(check, language))}</ul>`,
      ),
    notices.length > 0 &&
      box(
        'notices',
        approve.notices,
        html`<ul class="plain">${notices.map(check => checkItem(check, language))}</ul>`,
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

const checkItem = ({ rule, message }: DisplayedCheck, language: Language, remedy = ''): Html =>
  html`<li><strong>${ruleName(rule, language)}</strong> ${inEnglish(`${message} ${remedy}`.trim(), language)}</li>`

/** The rules speak English: German pages mark that for screen readers. */
const inEnglish = (message: string, language: Language): Html =>
  html`<bdi${language === 'de' && html` lang="en"`}>${htmlToText(message)}</bdi>`

function reason({ rule, message, limit, used }: DisplayedCheck, language: Language): Html {
  const limitInWords = limit === null ? '' : euros(language, limit)
  const german = language === 'de' ? germanDenialReason(rule, { limit: limitInWords, used }) : undefined
  const words = german ?? inEnglish(message, language)
  return html`<li><strong>${ruleName(rule, language)}</strong> ${words}</li>`
}

const limit = (check: DisplayedCheck, language: Language): Html =>
  html`<li><strong>${ruleName(check.rule, language)}</strong> <span class="number">${remainingText(check, language)}</span></li>`

function remainingText({ rule, remaining, limit }: DisplayedCheck, language: Language): string {
  const { approve } = consolePageTexts[language]
  const unit = limitUnitOfRule(rule)
  if (unit === 'minutes') return approve.leftMinutes(remaining ?? 0)
  if (unit === 'payments') return approve.leftCount(remaining ?? 0, limit ?? 0)
  if (rule === jsonName('maxTransactionCents')) return approve.each(euros(language, limit ?? 0))
  return approve.left(euros(language, remaining ?? 0), euros(language, limit ?? 0))
}

const euros = (language: Language, figure: number): string =>
  formatAmountIn(language, roundCents(figure * 100))

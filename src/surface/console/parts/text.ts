import { formatOriginal, type OriginalAmount } from '../../../values/original-amount.ts'
import { type Html, type HtmlContent, html, htmlToText } from '../../../web/html.ts'

/** Third-party text: escaped, shortened, and isolated in its direction of writing. */
export const renderText = (value: string | null | undefined, most = 200): Html =>
  value ? html`<bdi>${htmlToText(value, most)}</bdi>` : noneText

export const noneText = html`<span class="none">–</span>`

const money = new Intl.NumberFormat('en-GB', { style: 'currency', currency: 'EUR' })

/** With a true minus: a hyphen is easily overlooked. */
export const formatPlainEuros = (amount: number): string =>
  money.format(amount).replace('€', '€\u00a0').replace('-', '−')

export const renderEuros = (amount: number | null | undefined): Html =>
  amount === null || amount === undefined
    ? noneText
    : html`<data class="amount" value="${amount}">${formatPlainEuros(amount)}</data>`

/** With what the merchant took in its currency before it, unless that is the euro. */
export const renderAmount = (amountEuros: number, original: OriginalAmount | null): Html =>
  original === null
    ? renderEuros(amountEuros)
    : html`<span class="amount">${formatOriginal(original).replace(' ', '\u00a0')}</span> · ${renderEuros(amountEuros)}`

/** Adds cents, which are exact. */
export const sumEuros = (amounts: readonly number[]): number =>
  amounts.reduce((cents, amount) => cents + Math.round(amount * 100), 0) / 100

const percents = new Intl.NumberFormat('en-GB', { style: 'percent', maximumFractionDigits: 1 })

export const renderPercent = (share: number | null): Html =>
  share === null ? noneText : html`<span class="amount">${percents.format(share)}</span>`

export const renderChange = (share: number | null): Html =>
  share === null
    ? noneText
    : html`<span class="amount">${share > 0 ? '+' : ''}${percents.format(share)}</span>`

export const formatFileSize = (bytes: number): string =>
  bytes < 1_000
    ? `${bytes} bytes`
    : bytes < 1_000_000
      ? `${Math.round(bytes / 1_000)} kB`
      : `${(bytes / 1_000_000).toFixed(1)} MB`

const shortMonth = new Intl.DateTimeFormat('en-GB', { month: 'short', timeZone: 'UTC' })
const months = Array.from({ length: 12 }, (_, month) => shortMonth.format(Date.UTC(2000, month)))

/**
 * Shows a time in UTC, and in the reader's zone where scripts run. A formatter would take several times as
 * long, and lists have hundreds of times.
 */
export function renderTime(at: string | Date | null | undefined, place?: 'in a sentence'): Html {
  if (!at) return noneText
  const instant = new Date(at)
  const iso = instant.toISOString()
  return html`<time datetime="${iso}"${place !== undefined && html` data-in-sentence`}>${instant.getUTCDate()} ${months[instant.getUTCMonth()]} ${instant.getUTCFullYear()}, ${iso.slice(-13, -8)} UTC</time>`
}

const dayFormat = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  timeZone: 'UTC',
})
const monthFormat = new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' })

export const formatDay = (day: string): string =>
  (day.length > 7 ? dayFormat : monthFormat).format(new Date(day))

/** `1 payment`, `2 payments` */
export const countOf = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`

export const humanize = (name: string): string => withAcronyms(name.replaceAll('_', ' '))

/** A value of the API as a dashboard shows it. Names such as `agents:read` and `intent.approved` stay as they are. */
export const valueText = (value: string): string =>
  VALUES[value] ?? (/[:.]/.test(value) ? value : capitalized(humanize(value)))

const VALUES: Readonly<Record<string, string>> = {
  agent_fund: 'Funding of agent',
  card_fund: 'Funding of card',
  key: 'API key',
  multi: 'Multiple payments',
  single: 'Single payment',
  mpp: 'Machine payment (402)',
  sct: 'SEPA credit transfer',
  sct_inst: 'SEPA instant credit transfer',
  sca: 'SCA',
}

export const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

export function memberLabelText(member: string): string {
  const known = LABELS[member]
  if (known !== undefined) return known
  const spaced = member
    .replace(/(Euros|Ids?|At)$/, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase()
  return capitalized(withAcronyms(spaced))
}

const LABELS: Readonly<Record<string, string>> = {
  at: 'Date',
  workflowId: 'Run in Temporal',
  sha256: 'SHA-256',
  mediaType: 'File type',
  mccs: 'Categories (MCC)',
  maxTransactionEuros: 'Per payment',
  dailyLimitEuros: 'Per day',
  monthlyLimitEuros: 'Per month',
  autoApproveLimitEuros: 'Auto-approve up to',
  approval: 'Steps of approval',
  allowedMccs: 'Allowed categories (MCC)',
  blockedMccs: 'Blocked categories (MCC)',
  mccCategories: 'Allowed category groups',
  merchantAllowlist: 'Allowed merchants',
  merchantBlocklist: 'Blocked merchants',
  allowedCountries: 'Allowed countries',
  mcc: 'Category',
}

const withAcronyms = (words: string): string =>
  words.replace(/\b(bic|dlq|iban|id|kyc|mcc|mcp|mpp|sct|sepa|url|vat)\b/g, name => name.toUpperCase())

const tones: Readonly<Record<string, string>> = {
  ...toneOf(
    'good',
    'active applied approved assigned completed paid settled verified won sent delivered succeeded issued matched',
  ),
  ...toneOf(
    'waiting',
    'created pending verifying in_review needs_information open paused suggested unmatched',
  ),
  ...toneOf(
    'bad',
    'denied declined failed rejected frozen disabled lost mismatch suspended dead expired revoked',
  ),
}

function toneOf(tone: string, states: string): Record<string, string> {
  return Object.fromEntries(states.split(' ').map(state => [state, tone]))
}

/** `words` are the terms of the trade: `completed` of a payment is `paid`. */
export const stateText = (state: string, words: Readonly<Record<string, string>> = {}): string =>
  capitalized(words[state] ?? humanize(state))

/** A state in words. Its colour only repeats the word. */
export const renderStatus = (state: string, words?: Readonly<Record<string, string>>): Html =>
  html`<span class="status ${tones[state] ?? 'plain'}">${stateText(state, words)}</span>`

/** The figure, and below it how much of the limit is used. A limit of zero is used up. */
export function renderUsage(used: number, limit: number | null): Html {
  if (limit === null) return html`${renderEuros(used)} <span class="none">no limit</span>`
  const share = limit === 0 ? 1 : Math.min(used / limit, 1)
  return html`<span class="usage">${renderEuros(used)} of ${renderEuros(limit)}<svg viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true"><rect width="${Math.round(share * 100)}" height="4"${share > 0.8 && html` class="near"`}/></svg></span>`
}

export const joinWithSpaces = (...contents: readonly HtmlContent[]): Html =>
  html`${contents.filter(content => content !== false && content !== undefined).map(content => html`${content} `)}`

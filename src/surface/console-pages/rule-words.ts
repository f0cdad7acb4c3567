import type { Language } from '../../web/language.ts'

/** Rules by the names of their checks: English, then German. */
const names: Readonly<Record<string, readonly [en: string, de: string]>> = {
  agentStatus: ['State of the agent', 'Zustand des Agenten'],
  cardStatus: ['State of the card', 'Zustand der Karte'],
  expiresAfterMinutes: ['End of the policy', 'Ende der Regeln'],
  requireIntent: ['Intent needed', 'Intent nötig'],
  merchantBlocklist: ['Blocked payees', 'Gesperrte Empfänger'],
  merchantAllowlist: ['Admitted payees', 'Zugelassene Empfänger'],
  blockedMccs: ['Blocked categories', 'Gesperrte Branchen'],
  mccCategories: ['Admitted categories', 'Zugelassene Branchen'],
  allowedMccs: ['Admitted categories', 'Zugelassene Branchen'],
  allowedCountries: ['Countries', 'Länder'],
  lockToFirstMerchant: ['One merchant only', 'Nur ein Händler'],
  boundMerchant: ['Merchant of the delegation', 'Händler der Delegation'],
  activeHoursStart: ['Hours', 'Uhrzeiten'],
  cooldownMinutes: ['Pause between payments', 'Pause zwischen Zahlungen'],
  maxUsageCount: ['Number of payments', 'Anzahl der Zahlungen'],
  maxTransactionEuros: ['Limit for one payment', 'Grenze für eine Zahlung'],
  dailyLimitEuros: ['Limit for the day', 'Grenze für den Tag'],
  monthlyLimitEuros: ['Limit for the month', 'Grenze für den Monat'],
  budget: ['Narrowest budget', 'Engstes Budget'],
  mandate: ['Mandate', 'Mandat'],
  risk: ['Risk', 'Risiko'],
  possibleDuplicate: ['Possible duplicate', 'Mögliche Wiederholung'],
  requireAttestation: ['Passkey needed', 'Passkey nötig'],
  autoApproveLimitEuros: ['Limit without a person', 'Grenze ohne Rückfrage'],
  amountTolerancePercent: ['Tolerance', 'Toleranz'],
  walletStatus: ['State of the wallet', 'Zustand des Wallets'],
  insufficient_funds: ['Money in the wallet', 'Geld im Wallet'],
}

export const ruleName = (rule: string, language: Language): string =>
  names[rule]?.[language === 'de' ? 1 : 0] ?? rule

/**
 * German texts of the rules that require approval; the engine has the English ones. `limit` is in euros,
 * `used` is the risk score.
 */
const germanReasons: Readonly<Record<string, (figures: { limit: string; used: number | null }) => string>> = {
  autoApproveLimitEuros: ({ limit }) =>
    limit === ''
      ? 'Ohne einen Menschen wird nichts freigegeben.'
      : `Der Betrag liegt über ${limit}: Darüber wird ein Mensch gefragt.`,
  possibleDuplicate: () =>
    'Dasselbe, beim selben Händler und für denselben Betrag, wurde vor wenigen Minuten schon verlangt.',
  risk: ({ used }) => `Das Risiko ist ${used ?? '?'} von 100.`,
  requireAttestation: () => 'Die Regeln verlangen einen Passkey: Ein Mensch gibt jeden Intent frei.',
  blockedMccs: () => 'Die Branche des Händlers ist nicht bekannt.',
  mccCategories: () => 'Die Branche des Händlers ist nicht bekannt.',
  allowedMccs: () => 'Die Branche des Händlers ist nicht bekannt.',
  allowedCountries: () => 'Das Land des Händlers ist nicht bekannt.',
}

export const germanReason = (
  rule: string,
  figures: { readonly limit: string; readonly used: number | null },
): string | undefined => germanReasons[rule]?.(figures)

export const isCardUnusable = ({
  rule,
  outcome,
}: {
  readonly rule: string
  readonly outcome: string
}): boolean => rule === 'cardStatus' && outcome !== 'pass'

export const unitOf = (rule: string): 'euros' | 'minutes' | 'payments' => {
  if (rule === 'cooldownMinutes') return 'minutes'
  return rule === 'maxUsageCount' ? 'payments' : 'euros'
}

/** Rules whose figures are no spending limit. */
export const hasNothingLeft: ReadonlySet<string> = new Set([
  'autoApproveLimitEuros',
  'amountTolerancePercent',
  'risk',
])

import type { Language } from '../../web/language.ts'

const names: Readonly<Record<string, readonly [en: string, de: string]>> = {
  agentStatus: ['Agent status', 'Status des Agenten'],
  cardStatus: ['Card status', 'Status der Karte'],
  expiresAfterMinutes: ['Policy expiry', 'Ablauf der Richtlinie'],
  requireIntent: ['Intent required', 'Intent erforderlich'],
  merchantBlocklist: ['Blocked payees', 'Gesperrte Empfänger'],
  merchantAllowlist: ['Allowed payees', 'Erlaubte Empfänger'],
  blockedMccs: ['Blocked categories', 'Gesperrte Kategorien'],
  mccCategories: ['Allowed categories', 'Erlaubte Kategorien'],
  allowedMccs: ['Allowed categories', 'Erlaubte Kategorien'],
  allowedCountries: ['Allowed countries', 'Erlaubte Länder'],
  lockToFirstMerchant: ['One merchant only', 'Nur ein Händler'],
  boundMerchant: ['Merchant of the delegation', 'Händler der Delegation'],
  activeHoursStart: ['Active hours', 'Aktive Zeiten'],
  cooldownMinutes: ['Cooldown', 'Wartezeit zwischen Zahlungen'],
  maxUsageCount: ['Number of payments', 'Anzahl der Zahlungen'],
  maxTransactionEuros: ['Limit per payment', 'Limit pro Zahlung'],
  dailyLimitEuros: ['Daily limit', 'Tageslimit'],
  monthlyLimitEuros: ['Monthly limit', 'Monatslimit'],
  budget: ['Smallest budget', 'Kleinstes Budget'],
  mandate: ['Mandate', 'Mandat'],
  risk: ['Risk', 'Risiko'],
  possibleDuplicate: ['Possible duplicate', 'Mögliches Duplikat'],
  requireAttestation: ['Passkey required', 'Passkey erforderlich'],
  approval: ['Steps of approval', 'Freigabestufen'],
  autoApproveLimitEuros: ['Auto-approve limit', 'Limit für automatische Freigabe'],
  amountTolerancePercent: ['Tolerance', 'Toleranz'],
  conversionMarginPercent: ['Other currency', 'Andere Währung'],
  walletStatus: ['Wallet status', 'Status des Wallets'],
  insufficient_funds: ['Balance', 'Guthaben'],
}

export const ruleName = (rule: string, language: Language): string =>
  names[rule]?.[language === 'de' ? 1 : 0] ?? rule

/**
 * German texts of the rules that require approval; the rule engine writes the English ones. `limit` is in
 * euros, `used` is the risk score.
 */
const germanReasons: Readonly<Record<string, (figures: { limit: string; used: number | null }) => string>> = {
  autoApproveLimitEuros: ({ limit }) =>
    limit === ''
      ? 'Diese Zahlung benötigt die Freigabe einer Person.'
      : `Der Betrag liegt über ${limit}, dem Limit für automatische Freigaben.`,
  possibleDuplicate: () =>
    'Eine gleiche Zahlung an denselben Händler über denselben Betrag wurde vor wenigen Minuten angefragt.',
  risk: ({ used }) => `Der Risikowert ist ${used ?? '?'} von 100.`,
  requireAttestation: () => 'Die Richtlinie verlangt für jeden Intent eine Freigabe mit Passkey.',
  approval: () =>
    'Die Richtlinie verlangt für diesen Betrag Freigaben bestimmter Personen, jede mit Passkey.',
  blockedMccs: () => 'Die Kategorie des Händlers ist nicht bekannt.',
  mccCategories: () => 'Die Kategorie des Händlers ist nicht bekannt.',
  allowedMccs: () => 'Die Kategorie des Händlers ist nicht bekannt.',
  allowedCountries: () => 'Das Land des Händlers ist nicht bekannt.',
}

export const germanDenialReason = (
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

export const limitUnitOfRule = (rule: string): 'euros' | 'minutes' | 'payments' => {
  if (rule === 'cooldownMinutes') return 'minutes'
  return rule === 'maxUsageCount' ? 'payments' : 'euros'
}

export const rulesWithoutLimit: ReadonlySet<string> = new Set([
  'autoApproveLimitEuros',
  'amountTolerancePercent',
  'risk',
])

import { bodyOf, type TestClient } from '../factories.ts'

/** A non-default value for every rule. */
export const everyRule = {
  name: 'Everything',
  maxTransactionEuros: 25.5,
  dailyLimitEuros: 70,
  monthlyLimitEuros: 1_000.01,
  autoApproveLimitEuros: 0,
  merchantAllowlist: ['*.example.com', 'Bookshop'],
  merchantBlocklist: ['casino.example'],
  mccCategories: ['software'],
  allowedCountries: ['DE', 'FR'],
  lockToFirstMerchant: true,
  cooldownMinutes: 0,
  allowedMccs: ['5942'],
  blockedMccs: ['7995'],
  requireIntent: true,
  requireAttestation: true,
  attestationWindowMinutes: 10,
  // Its people are in `several-people.ts`.
  approval: [],
  expiresAfterMinutes: 60,
  expirationAction: 'freeze' as const,
  activeHoursStart: 22,
  activeHoursEnd: 6,
  maxUsageCount: 3,
  amountTolerancePercent: 2.5,
  conversionMarginPercent: 1.5,
  mppMethods: ['stripe' as const, 'card' as const],
}

export const noRules = {
  maxTransactionEuros: null,
  dailyLimitEuros: null,
  monthlyLimitEuros: null,
  autoApproveLimitEuros: null,
  merchantAllowlist: [],
  merchantBlocklist: [],
  mccCategories: [],
  allowedCountries: [],
  lockToFirstMerchant: false,
  cooldownMinutes: null,
  requireIntent: false,
  requireAttestation: false,
  expiresAfterMinutes: null,
  expirationAction: 'notify',
  activeHoursStart: null,
  activeHoursEnd: null,
  maxUsageCount: null,
  amountTolerancePercent: null,
}

export const policyOf = async (client: TestClient, id: string) =>
  bodyOf(client.policies.get({ params: { id } }))
export const effectivePolicyOf = async (client: TestClient, agentId: string) =>
  bodyOf(client.policies.effective({ params: { agentId } }))
export const versionsOf = async (client: TestClient, id: string) =>
  (await bodyOf(client.policies.versions({ params: { id } }))).data

import { sandboxAcquirer } from '../adapters/acquirer/sandbox.ts'
import { sandboxProcessor } from '../adapters/card-processor/sandbox.ts'
import type { DeliverMessage } from '../adapters/card-processor/sandbox-refunds.ts'
import { ecbRates } from '../adapters/exchange-rates/ecb.ts'
import { sandboxRates } from '../adapters/exchange-rates/sandbox.ts'
import { sandboxFundingRail } from '../adapters/funding-rail/sandbox.ts'
import { manualIdentity } from '../adapters/identity-verification/manual.ts'
import { noIdentityCheck } from '../adapters/identity-verification/none.ts'
import { type DeliverIdentityNotice, sandboxIdentity } from '../adapters/identity-verification/sandbox.ts'
import { type PaymentFileQueue, sepaFileRail } from '../adapters/sepa-rail/files.ts'
import { outboundFolder } from '../adapters/sepa-rail/folder.ts'
import { sandboxSepaRail } from '../adapters/sepa-rail/sandbox.ts'
import { stripeAcquirer } from '../adapters/stripe/acquirer/stripe-acquirer.ts'
import { stripeFunding } from '../adapters/stripe/funding/stripe-funding.ts'
import { stripeIdentity } from '../adapters/stripe/identity/stripe-identity.ts'
import { stripeIssuing } from '../adapters/stripe/issuing/stripe-issuing.ts'
import type { Mode } from '../kernel/contract/actor.ts'
import type { ExternalSystems, LiveRails } from '../kernel/contract/ports.ts'
import { Problem } from '../kernel/contract/problem.ts'
import { hasRealRail, kycProviderOf } from '../platform/settings/external-systems.ts'
import type { Settings } from '../platform/settings/settings.ts'
import type { Acquirer } from '../ports/acquirer.ts'
import type { CardProcessor } from '../ports/card-processor.ts'
import type { FundingRail } from '../ports/funding-rail.ts'
import type { OutboundHttp } from '../ports/outbound.ts'
import type { SepaRail } from '../ports/sepa-rail.ts'
import { deriveSecrets } from '../ports/vault.ts'

type WithKey = Settings & { readonly encryptionKey: string }

interface Callbacks {
  /** The sandbox’s cards deliver messages by it. */
  readonly cards: DeliverMessage
  readonly identity: DeliverIdentityNotice
  /** The exchange rates of live mode were found old. */
  readonly oldRates: () => void
}

export function createExternalSystems(
  settings: WithKey,
  queue: PaymentFileQueue,
  callbacks: Callbacks,
  outbound: OutboundHttp,
): ExternalSystems {
  const { sepaRail, fundingRail, cardProcessor } = settings
  const secrets = sandboxSecrets(settings)
  const sepa = { sandbox: sandboxSepaRail(), files: byFiles(settings, queue) }
  const funding = { sandbox: sandboxFundingRail(), stripe: fundingByStripe(settings) }
  const cards = { sandbox: sandboxProcessor(secrets, callbacks.cards), stripe: byStripe(settings) }
  const acquirer = sandboxAcquirer(secrets.numbers, { processor: cards.sandbox, deliver: callbacks.cards })
  const liveAcquirer = acquirerByStripe(settings)
  const identities = {
    manual: manualIdentity,
    none: noIdentityCheck,
    stripe: () => identityByStripe(settings),
    sandbox: () => sandboxIdentity(secrets.identity, callbacks.identity),
  }
  const identity = identities[kycProviderOf(settings)]()
  const fixed = sandboxRates()
  const rates = {
    test: fixed,
    live: hasRealRail(settings) ? ecbRates(settings.exchangeRatesUrl, outbound, callbacks.oldRates) : fixed,
  }
  return {
    sepaRail: byMode('SEPA_RAIL', sepa.sandbox, sepaRail && sepa[sepaRail]),
    fundingRail: byMode('FUNDING_RAIL', funding.sandbox, fundingRail && funding[fundingRail]),
    cardProcessor: byMode('CARD_PROCESSOR', cards.sandbox, cardProcessor && cards[cardProcessor]),
    acquirer: mode => (mode === 'test' ? acquirer : (liveAcquirer ?? noAcquirer())),
    exchangeRates: mode => (mode === 'live' ? rates.live : rates.test),
    identityVerification: () => identity,
  }
}

/** The settings without which a rail serves nothing. */
const needed: Readonly<Record<string, readonly (keyof Settings)[]>> = {
  files: ['collectionIban', 'sepaFolder'],
  stripe: ['stripeSecretKey', 'stripeWebhookSecret'],
}

const served = <R extends string>(rail: R | undefined, settings: Settings): R | null =>
  rail !== undefined && (needed[rail] ?? []).every(name => settings[name] !== undefined) ? rail : null

export const liveRailsOf = (settings: Settings): LiveRails => ({
  sepaOut: served(settings.sepaRail, settings),
  sepaIn: settings.collectionIban === undefined ? null : 'bank_account',
  cards: served(settings.cardProcessor, settings),
  machinePayments: served(settings.cardProcessor, settings),
  acquirer: acquirerByStripe(settings) ? 'stripe' : null,
  paymentMethods: servedFundingRail(settings),
  identityVerification: kycProviderOf(settings),
})

const servedFundingRail = (settings: Settings) =>
  settings.fundingRail === 'stripe' && fundingByStripe(settings) instanceof Missing
    ? null
    : (settings.fundingRail ?? null)

function noAcquirer(): Acquirer {
  throw new Problem(
    'not_configured',
    'Payment requests cannot be paid by programs in live mode: STRIPE_PROFILE_ID or STRIPE_SECRET_KEY is not set. They can be paid by SEPA.',
  )
}

const byMode =
  <T>(setting: string, test: T, live: T | Missing | undefined) =>
  (mode: Mode): T => {
    const chosen = mode === 'test' ? test : live
    if (chosen === undefined) throw unset(setting)
    if (chosen instanceof Missing) throw unset(chosen.setting)
    return chosen
  }

class Missing {
  readonly setting: string
  constructor(setting: string) {
    this.setting = setting
  }
}

const unset = (setting: string): Problem =>
  new Problem('not_configured', `This is not available in live mode: ${setting} is not set.`)

function byFiles(settings: Settings, queue: PaymentFileQueue): SepaRail | Missing {
  const { collectionIban, collectionBic, accountHolder, sepaFolder, sepaCutoffTimes, sepaReportHours } =
    settings
  if (!collectionIban) return new Missing('COLLECTION_IBAN')
  if (!sepaFolder) return new Missing('SEPA_FOLDER')
  const debtor = { name: accountHolder, iban: collectionIban, bic: collectionBic ?? null }
  return sepaFileRail({
    debtor,
    cutOffs: sepaCutoffTimes,
    reportHours: sepaReportHours,
    queue,
    files: outboundFolder(sepaFolder),
  })
}

function byStripe(settings: Settings): CardProcessor | Missing {
  const { stripeSecretKey, stripeWebhookSecret, stripeApiUrl } = settings
  if (!stripeSecretKey) return new Missing('STRIPE_SECRET_KEY')
  if (!stripeWebhookSecret) return new Missing('STRIPE_WEBHOOK_SECRET')
  return stripeIssuing({
    secretKey: stripeSecretKey,
    webhookSecrets: webhookSecretsOf(settings),
    apiUrl: stripeApiUrl,
  })
}

function fundingByStripe(settings: Settings): FundingRail | Missing {
  if (!settings.stripeSecretKey) return new Missing('STRIPE_SECRET_KEY')
  if (!settings.stripeWebhookSecretEvents) return new Missing('STRIPE_WEBHOOK_SECRET_EVENTS')
  return stripeFunding(eventAccount(settings))
}

const identityByStripe = (settings: Settings) => stripeIdentity(eventAccount(settings))

/** The settings are checked before: without the key, nothing is created. */
const eventAccount = ({ stripeSecretKey = '', stripeWebhookSecretEvents = [], stripeApiUrl }: Settings) => ({
  secretKey: stripeSecretKey,
  webhookSecrets: stripeWebhookSecretEvents,
  apiUrl: stripeApiUrl,
})

function acquirerByStripe(settings: Settings): Acquirer | undefined {
  const { stripeSecretKey: secretKey, stripeProfileId: networkId, stripeApiUrl: apiUrl } = settings
  if (!secretKey || !networkId) return undefined
  return stripeAcquirer({ secretKey, webhookSecrets: webhookSecretsOf(settings), apiUrl, networkId })
}

const webhookSecretsOf = ({ stripeWebhookSecret, stripeWebhookSecretEvents }: Settings): string[] =>
  [stripeWebhookSecret, stripeWebhookSecretEvents].flatMap(secret => secret ?? [])

const sandboxSecrets = ({ encryptionKey, encryptionKeysOld }: WithKey) => ({
  numbers: deriveSecrets('sandbox card numbers', encryptionKey, encryptionKeysOld),
  messages: deriveSecrets('sandbox card messages', encryptionKey, encryptionKeysOld),
  identity: deriveSecrets('sandbox identity notices', encryptionKey, encryptionKeysOld),
})

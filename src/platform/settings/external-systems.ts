import { z } from 'zod'
import {
  addressListSetting,
  documentSetting,
  InvalidSettingError,
  integerSetting,
  listSetting,
  pageOriginSetting,
  webAddressSetting,
} from './setting.ts'

export const externalSystemSettings = {
  outboundAllowCidrs: documentSetting(addressListSetting.optional(), {
    meaning:
      'Non-public addresses that webhooks and other outgoing calls may reach. Every customer can then reach them: list receivers only.',
    allowed: 'addresses or CIDR blocks (127.0.0.1,10.1.0.0/16,fd00:1::/32)',
    otherwise: 'none: only public addresses',
  }),
  webhookRetrySeconds: documentSetting(
    listSetting(integerSetting(1, 604_800)).default([60, 300, 900, 3_600]),
    {
      meaning: 'Waits before the second and later attempts of a webhook, on plans that retry.',
      allowed: 'seconds, separated by commas',
    },
  ),
  exchangeRatesUrl: documentSetting(
    z.url({ protocol: /^https?$/ }).default('https://www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml'),
    {
      meaning:
        'Exchange rates of live mode with a real rail, in the form of the ECB’s `eurofxref-daily.xml`. An address inside your network needs `OUTBOUND_ALLOW_CIDRS`.',
      allowed: 'an http or https URL',
    },
  ),
  vapidSubject: documentSetting(z.url({ protocol: /^(mailto|https)$/ }).default('mailto:push@example.com'), {
    meaning:
      'Contact for push services (RFC 8292). Some refuse invalid contacts: set your own before you use web push.',
    allowed: 'mailto: and an address, or an https URL',
  }),
  metricsPort: documentSetting(integerSetting(0, 65_535).optional(), {
    meaning:
      'Port at which a worker or relay serves `/health` and `/metrics`. An API process serves them on `PORT`.',
    allowed: '0 to 65535; 0 takes any free port',
    otherwise: 'no metrics port',
  }),
  publicUrl: documentSetting(webAddressSetting.optional(), {
    meaning: 'Address of the service for its clients, shown in the documentation.',
    allowed: 'an http or https URL',
    otherwise: 'the address it listens on',
  }),
  passkeyOrigins: documentSetting(listSetting(pageOriginSetting).optional(), {
    meaning: 'Further origins whose pages may use the passkeys of `PUBLIC_URL`.',
    allowed: 'https origins without a path, separated by commas',
    otherwise: 'none',
  }),
}

const kycProviders = ['sandbox', 'manual', 'none', 'stripe'] as const
type KycProvider = (typeof kycProviders)[number]

export const identitySettings = {
  kycProvider: documentSetting(z.enum(kycProviders).optional(), {
    meaning:
      'Who verifies identities, in both modes; a verified owner may create live keys. `manual`: operators. `none`: the only customer is verified without a check, and a second one is refused. `stripe`: Stripe Identity, by a restricted key in `STRIPE_SECRET_KEY`. `sandbox`: magic names, refused with a real rail. The same for every process.',
    allowed: 'sandbox, manual, none, stripe',
    otherwise:
      'manual with a real rail (SEPA_RAIL=files, CARD_PROCESSOR=stripe, FUNDING_RAIL=stripe, COLLECTION_IBAN, STRIPE_PROFILE_ID), otherwise sandbox',
  }),
}

export interface RailSettings {
  readonly sepaRail?: string | undefined
  readonly cardProcessor?: string | undefined
  readonly fundingRail?: string | undefined
  readonly collectionIban?: string | undefined
  readonly stripeProfileId?: string | undefined
  readonly kycProvider?: KycProvider | undefined
  readonly stripeSecretKey?: string | undefined
}

export const hasRealRail = (settings: RailSettings): boolean =>
  settings.sepaRail === 'files' ||
  settings.cardProcessor === 'stripe' ||
  settings.fundingRail === 'stripe' ||
  settings.collectionIban !== undefined ||
  settings.stripeProfileId !== undefined

export const kycProviderOf = (settings: RailSettings): KycProvider =>
  settings.kycProvider ?? (hasRealRail(settings) ? 'manual' : 'sandbox')

/** Prevents a magic name of the sandbox from opening keys that move real money. */
export function assertKycProvider(settings: RailSettings): void {
  const provider = kycProviderOf(settings)
  if (provider === 'stripe' && !settings.stripeSecretKey?.startsWith('rk_'))
    throw new InvalidSettingError(
      'KYC_PROVIDER=stripe compares dates of birth, which Stripe shows to restricted keys only. Set STRIPE_SECRET_KEY to a restricted key (rk_…) that may read sensitive results of Identity.',
    )
  const movesBankMoney = settings.sepaRail === 'files' || settings.collectionIban !== undefined
  if (provider === 'stripe' && settings.stripeSecretKey?.startsWith('rk_test_') && movesBankMoney)
    throw new InvalidSettingError(
      'KYC_PROVIDER=stripe with a test key (rk_test_…) verifies anyone who presses a button, and this installation moves real money by SEPA. Set STRIPE_SECRET_KEY to a live key, or KYC_PROVIDER=manual.',
    )
  if (provider === 'sandbox' && hasRealRail(settings))
    throw new InvalidSettingError(
      'KYC_PROVIDER=sandbox verifies people by magic names, and this installation moves real money. Set KYC_PROVIDER=manual (or none, if you are the only customer), or remove SEPA_RAIL=files, CARD_PROCESSOR=stripe, FUNDING_RAIL=stripe, COLLECTION_IBAN and STRIPE_PROFILE_ID.',
    )
}

export const canvasSettings = {
  canvasModelUrl: documentSetting(z.url({ protocol: /^https?$/ }).optional(), {
    meaning:
      'Base URL of a chat-completions API, up to `/v1`. It receives people’s questions and the answers of operations. An address inside your network needs `OUTBOUND_ALLOW_CIDRS`.',
    allowed: 'an http or https URL',
    otherwise: 'none: the canvas understands only its own grammar',
  }),
  canvasModel: documentSetting(z.string().min(1).max(200).optional(), {
    meaning: 'Model of `CANVAS_MODEL_URL`.',
    allowed: 'a text',
    otherwise: '`default`',
  }),
  canvasModelKey: documentSetting(z.string().min(1).max(1_000).optional(), {
    meaning: 'API key of `CANVAS_MODEL_URL`.',
    secret: true,
    allowed: 'a text',
    otherwise: 'none',
  }),
}

interface ModelSettings {
  readonly canvasModelUrl?: string | undefined
  readonly canvasModel?: string | undefined
  readonly canvasModelKey?: string | undefined
}

export const languageModelSettings = ({ canvasModelUrl, canvasModel, canvasModelKey }: ModelSettings) =>
  canvasModelUrl === undefined
    ? null
    : { url: canvasModelUrl, model: canvasModel ?? 'default', key: canvasModelKey }

import { z } from 'zod'
import { about, addresses, integer, listOf, pageOrigin, WrongSetting } from './setting.ts'

export const outsideSettings = {
  outboundAllowCidrs: about(addresses.optional(), {
    meaning:
      'Addresses that webhooks and other calls to addresses of others may reach though they are not public: of receivers beside it. What is in your network is open to every customer then.',
    allowed: 'addresses or blocks of them (127.0.0.1,10.1.0.0/16,fd00:1::/32)',
    otherwise: 'none: only public addresses',
  }),
  webhookRetrySeconds: about(listOf(integer(1, 604_800)).default([60, 300, 900, 3_600]), {
    meaning:
      'Waits before the second attempt of a webhook, the third, and so on, on plans that retry. With a fifth wait, 14400, there are six attempts.',
    allowed: 'seconds, separated by commas',
  }),
  pushContact: about(z.url({ protocol: /^(mailto|https)$/ }).default('mailto:push@example.com'), {
    meaning:
      'To whom push services turn when our messages give them trouble. Some of them refuse a made-up one: give yours before you use web push.',
    allowed: 'mailto: and an address, or an https URL',
  }),
  metricsPort: about(integer(0, 65_535).optional(), {
    meaning:
      'Port of `HOST` at which a worker or a relay answers `/health` and `/metrics`; an API process does so at its own.',
    allowed: '0 to 65535; 0 takes any free port',
    otherwise: 'none: they are not asked',
  }),
  publicUrl: about(z.url({ protocol: /^https?$/ }).optional(), {
    meaning: 'Address of the service as its clients see it, shown in the documentation.',
    allowed: 'an http or https URL',
    otherwise: 'the address it listens on',
  }),
  passkeyOrigins: about(listOf(pageOrigin).optional(), {
    meaning:
      'Further origins whose pages may use the passkeys of `PUBLIC_URL`; `/.well-known/webauthn` lists them for browsers.',
    allowed: 'https origins without a path, with commas between them',
    otherwise: 'none',
  }),
}

export const identitySettings = {
  kycProvider: about(z.enum(['sandbox', 'manual']).optional(), {
    meaning:
      'Who verifies that people are who they say, in both modes: whoever is verified may make live keys. With `manual` operators decide. `sandbox` decides by magic names, and is refused beside a real rail.',
    allowed: 'sandbox, manual',
    otherwise:
      'manual beside a real rail (SEPA_RAIL=files, CARD_PROCESSOR=stripe, COLLECTION_IBAN), else sandbox',
  }),
}

interface Rails {
  readonly sepaRail?: string | undefined
  readonly cardProcessor?: string | undefined
  readonly collectionIban?: string | undefined
  readonly kycProvider?: 'sandbox' | 'manual' | undefined
}

/** Whether live money is real: a sandbox rail moves none. */
const hasRealRail = ({ sepaRail, cardProcessor, collectionIban }: Rails): boolean =>
  sepaRail === 'files' || cardProcessor === 'stripe' || collectionIban !== undefined

export const kycProviderOf = (settings: Rails): 'sandbox' | 'manual' =>
  settings.kycProvider ?? (hasRealRail(settings) ? 'manual' : 'sandbox')

/** Prevents a magic name of the sandbox from opening keys that move real money. */
export function assertKycProvider(settings: Rails): void {
  if (kycProviderOf(settings) === 'sandbox' && hasRealRail(settings))
    throw new WrongSetting(
      'KYC_PROVIDER=sandbox verifies whoever has a magic name, and real money can be moved here: set KYC_PROVIDER=manual, or take SEPA_RAIL=files, CARD_PROCESSOR=stripe and COLLECTION_IBAN away.',
    )
}

export const canvasSettings = {
  canvasModelUrl: about(z.url({ protocol: /^https?$/ }).optional(), {
    meaning:
      'Address of a server that speaks the chat-completions protocol, up to `/v1`. What people ask, and what operations answer to them, is sent there. Inside your network it needs `OUTBOUND_ALLOW_CIDRS`.',
    allowed: 'an http or https URL',
    otherwise: 'none: the conversation understands what its grammar knows',
  }),
  canvasModel: about(z.string().min(1).max(200).optional(), {
    meaning: 'The model that the server of `CANVAS_MODEL_URL` is asked for.',
    allowed: 'a text',
    otherwise: '`default`',
  }),
  canvasModelKey: about(z.string().min(1).max(1_000).optional(), {
    meaning: 'The key that the server of `CANVAS_MODEL_URL` wants.',
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

export const modelOf = ({ canvasModelUrl, canvasModel, canvasModelKey }: ModelSettings) =>
  canvasModelUrl === undefined
    ? null
    : { url: canvasModelUrl, model: canvasModel ?? 'default', key: canvasModelKey }

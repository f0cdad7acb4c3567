import { z } from 'zod'
import { documentSetting, listSetting } from './setting.ts'

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])

/** Plain HTTP is allowed only within this machine, as the secret key goes to this address. */
const apiUrl = z
  .url({ protocol: /^https?$/, abort: true })
  .refine(url => url.startsWith('https:') || LOOPBACK.has(new URL(url).hostname))

export const cardSettings = {
  cardProcessor: documentSetting(z.enum(['sandbox', 'stripe']).optional(), {
    meaning:
      'Card processor in live mode. `stripe` is Stripe Issuing and needs the two settings below; `sandbox` simulates one.',
    allowed: 'sandbox, stripe',
    otherwise: 'none: live mode has no cards',
  }),
  stripeSecretKey: documentSetting(
    z
      .string()
      .regex(/^(sk|rk)_\w{8,}$/)
      .optional(),
    {
      meaning: 'API key of the Stripe account. The guides name the permissions that a restricted key needs.',
      secret: true,
      allowed: 'a Stripe secret or restricted key (sk_…, rk_…)',
      otherwise: 'none',
    },
  ),
  stripeWebhookSecret: documentSetting(webhookSecretText().optional(), {
    meaning: 'Signing secret of the Stripe endpoint for real-time authorizations.',
    secret: true,
    allowed: 'a Stripe signing secret (whsec_…)',
    otherwise: 'none',
  }),
  stripeWebhookSecretEvents: documentSetting(listSetting(webhookSecretText()).optional(), {
    meaning: 'Signing secrets of the Stripe endpoints for all other events.',
    secret: true,
    allowed: 'Stripe signing secrets (whsec_…), separated by commas',
    otherwise: 'none',
  }),
  stripeProfileId: documentSetting(
    z
      .string()
      .regex(/^profile_\w{1,200}$/)
      .optional(),
    {
      meaning: 'Stripe profile of the account, for payers of live payment requests by shared payment tokens.',
      allowed: 'the ID of a Stripe profile (profile_…)',
      otherwise: 'none: live payment requests are paid by SEPA only',
    },
  ),
  stripeApiUrl: documentSetting(apiUrl.optional(), {
    meaning: 'Address of Stripe’s API, for tests against a stand-in.',
    allowed: 'an https URL, or an http URL of the loopback',
    otherwise: 'https://api.stripe.com',
  }),
}

function webhookSecretText() {
  return z.string().regex(/^whsec_\w{8,}$/)
}

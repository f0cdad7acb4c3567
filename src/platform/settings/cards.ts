import { z } from 'zod'
import { about } from './setting.ts'

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])

/** Plain HTTP is allowed only within this machine, as the secret key goes to this address. */
const apiUrl = z
  .url({ protocol: /^https?$/ })
  .refine(url => url.startsWith('https:') || LOOPBACK.has(new URL(url).hostname))

export const cardSettings = {
  cardProcessor: about(z.enum(['sandbox', 'stripe']).optional(), {
    meaning:
      'Processor of live mode’s cards. `stripe` is Stripe Issuing and needs the two settings below. `sandbox` only pretends: it is for rehearsals. Test mode always has it.',
    allowed: 'sandbox, stripe',
    otherwise: 'none: live mode has no cards',
  }),
  stripeSecretKey: about(
    z
      .string()
      .regex(/^(sk|rk)_\w{8,}$/)
      .optional(),
    {
      meaning:
        'Key of the account at Stripe that issues the cards; a restricted one needs Issuing and ephemeral keys.',
      secret: true,
      allowed: 'a secret or restricted key of Stripe (sk_…, rk_…)',
      otherwise: 'none',
    },
  ),
  stripeWebhookSecret: about(webhookSecret(), {
    meaning: 'Signing secret of the endpoint that Stripe asks about authorizations in real time.',
    secret: true,
    allowed: 'a signing secret of Stripe (whsec_…)',
    otherwise: 'none',
  }),
  stripeWebhookSecretEvents: about(webhookSecret(), {
    meaning:
      'Signing secret of the endpoint that Stripe sends all other events to, where that is another one.',
    secret: true,
    allowed: 'a signing secret of Stripe (whsec_…)',
    otherwise: 'none',
  }),
  stripeApiUrl: about(apiUrl.optional(), {
    meaning: 'Address of Stripe’s API: another one for rehearsals with a stand-in.',
    allowed: 'an https URL, or an http URL of the loopback',
    otherwise: 'https://api.stripe.com',
  }),
}

function webhookSecret() {
  return z
    .string()
    .regex(/^whsec_\w{8,}$/)
    .optional()
}

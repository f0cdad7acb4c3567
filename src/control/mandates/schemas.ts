import { z } from 'zod'
import { declareEvent } from '../../kernel/contract/events.ts'
import { notFound, type RefusalSpec } from '../../kernel/contract/operation.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { moneySchema, positiveMoneySchema } from '../../values/money.ts'
import { countrySchema, labelSchema, recordHead, recordTimestamps } from '../../values/schemas.ts'
import { mccCodeSchema, merchantPatternSchema } from '../rules/index.ts'
import { MAX_MANDATE_DAYS, MAX_OPEN_MANDATES, mandateMachine, mandateSuspensionReasons } from './mandate.ts'

export const mandateStatusSchema = z.enum(mandateMachine.states).meta({
  description:
    '`suspended`: it approves nothing until it is resumed. `exhausted`: everything that it allows has been paid.',
})

const limit = (description: string) => positiveMoneySchema().nullable().default(null).meta({ description })

/** Bounds the lists, since a person reads all entries before signing. */
const MAX_ENTRIES = 100

const moneyLimits = {
  perTransactionCents: limit('The most for one payment.'),
  perDayCents: limit('The most that is held and spent under it in a UTC day.'),
  perMonthCents: limit('The most that is held and spent under it in a calendar month.'),
  totalCents: limit('The most that is held and spent under it in total.'),
}

const NewConstraints = z
  .strictObject({
    ...moneyLimits,
    count: z
      .int()
      .min(1)
      .max(1_000_000)
      .nullable()
      .default(null)
      .meta({ description: 'How many payments it allows, including open ones.' }),
    merchants: z.array(merchantPatternSchema).max(MAX_ENTRIES).default([]).meta({
      description:
        'Names, hosts, `*.example.com` or IBANs, compared as in the allowlist of a policy. Empty: any merchant.',
    }),
    mccs: z.array(mccCodeSchema).max(MAX_ENTRIES).default([]).meta({
      description: 'Merchant category codes. Empty: any; otherwise the intent has to name its `mcc`.',
    }),
    countries: z.array(countrySchema).max(MAX_ENTRIES).default([]).meta({
      description: 'Countries of the merchant. Empty: any; otherwise the intent has to name its `country`.',
    }),
  })
  .refine(
    constraints => Object.keys(moneyLimits).some(name => constraints[name as keyof typeof moneyLimits]),
    {
      path: ['totalCents'],
      error: 'set at least one limit of money: perTransactionEuros, perDayEuros, perMonthEuros or totalEuros',
    },
  )
  .meta({ id: 'GivenMandateConstraints' })

const ConstraintsRecord = z
  .object({
    perTransactionCents: moneySchema.nullable(),
    perDayCents: moneySchema.nullable(),
    perMonthCents: moneySchema.nullable(),
    totalCents: moneySchema.nullable(),
    count: z.int().nullable(),
    merchants: z.array(z.string()),
    mccs: z.array(z.string()),
    countries: z.array(z.string()),
  })
  .meta({ id: 'MandateConstraints' })

/** The members of a mandate as they are requested and signed. The owner chooses the name, which is not signed. */
export const newMandateMembers = {
  agentId: id('agent'),
  name: labelSchema
    .nullable()
    .default(null)
    .meta({ description: 'What decisions call it. It is not signed.', examples: ['Books'] }),
  constraints: NewConstraints,
  expiresAt: instant.meta({
    description: `When it ends: in the future, and within ${MAX_MANDATE_DAYS} days.`,
    examples: ['2027-01-31T00:00:00.000Z'],
  }),
}

export const NewMandate = z.strictObject(newMandateMembers)

const left = (what: string) =>
  moneySchema.nullable().meta({ description: `${what} Null: it sets no such limit. 0 once it has ended.` })

export const MandateRecord = z
  .object({
    ...recordHead('mandate'),
    agentId: id('agent'),
    name: z.string().nullable(),
    status: mandateStatusSchema,
    constraints: ConstraintsRecord,
    heldCents: moneySchema.meta({ description: 'Held for approved intents.' }),
    spentCents: moneySchema,
    dayLeftCents: left('What is left today.'),
    monthLeftCents: left('What is left this month.'),
    totalLeftCents: left('What is left in all.'),
    countLeft: z
      .int()
      .nullable()
      .meta({ description: 'How many payments are left. Null: any number. 0 once it has ended.' }),
    expiresAt: instant,
    suspendedBecause: z
      .enum(mandateSuspensionReasons)
      .nullable()
      .meta({ description: 'Null unless it is `suspended`.' }),
    comment: z.string().nullable().meta({ description: 'The comment of the last change.' }),
    endedAt: instant.nullable().meta({ description: 'When it was revoked, has expired or was exhausted.' }),
    signedBy: z.object({ personId: id('person'), passkeyId: id('passkey') }),
    jws: z.string().meta({
      description:
        'The statement that the person has signed, the signature of the passkey with its public key, and the mandate, signed by this installation: a compact JWS of the type `mandate`, which the keys of `/.well-known/jwks.json` check.',
      examples: ['eyJhbGciOiJFZERTQSIsImtpZCI6IjE2MyIsInR5cCI6Im1hbmRhdGUifQ.e30.c2lnbmF0dXJl'],
    }),
    workflowId: z.string().meta({ description: 'The run to find in the Temporal Web UI.' }),
    ...recordTimestamps,
  })
  .meta({ id: 'Mandate' })

export const MandateEvent = z.object({
  mandateId: id('mandate'),
  agentId: id('agent'),
  personId: id('person').meta({ description: 'The person who has signed it.' }),
  status: z.enum(mandateMachine.states),
  expiresAt: instant,
  suspendedBecause: z.enum(mandateSuspensionReasons).nullable(),
  reason: z.string().max(200).optional(),
})

/** Emitted by every operation that pays on intents, since any payment may exhaust a mandate. */
export const mandateExhaustedEvent = {
  'mandate.exhausted': declareEvent('Everything that a mandate allows has been paid.', MandateEvent),
}

export const mandateSuspendedEvent = {
  'mandate.suspended': declareEvent(
    'A mandate has been suspended: by a person or key, because its agent was frozen or is being deleted, or because its signer was removed.',
    MandateEvent,
  ),
}

const mandate_not_found = notFound('mandate')

export const mandateLookupRefusals = { mandate_not_found } as const satisfies Record<string, RefusalSpec>

export const mandateChangeRefusals = {
  mandate_not_found,
  mandate_over: [400, 'The mandate has ended: it is revoked, expired or exhausted. Create a new one.'],
} as const satisfies Record<string, RefusalSpec>

export const mandateTermRefusals = {
  expires_too_early: [400, 'expiresAt: it must be in the future.'],
  expires_too_late: [400, `expiresAt: at most ${MAX_MANDATE_DAYS} days from now.`],
  too_many_mandates: [
    400,
    `agentId: the agent has ${MAX_OPEN_MANDATES} mandates that have not ended. Revoke one that is not needed any more.`,
  ],
} as const satisfies Record<string, RefusalSpec>

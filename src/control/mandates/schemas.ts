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
    '`suspended`: the mandate approves nothing until it is resumed. `exhausted`: everything that it allows has been paid.',
})

const limit = (description: string) => positiveMoneySchema().nullable().default(null).meta({ description })

/** Bounds the lists, since a person reads all entries before signing. */
const MAX_ENTRIES = 100

const moneyLimits = {
  perTransactionCents: limit('Maximum amount per payment.'),
  perDayCents: limit('Maximum amount held and spent under the mandate per UTC day.'),
  perMonthCents: limit('Maximum amount held and spent under the mandate per calendar month.'),
  totalCents: limit('Maximum amount held and spent under the mandate in total.'),
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
      .meta({ description: 'Maximum number of payments, including open ones.' }),
    merchants: z.array(merchantPatternSchema).max(MAX_ENTRIES).default([]).meta({
      description:
        'Names, hosts, `*.example.com` or IBANs, compared as in the allowlist of a policy. Empty: any merchant.',
    }),
    mccs: z.array(mccCodeSchema).max(MAX_ENTRIES).default([]).meta({
      description: 'Merchant category codes. Empty: any. Otherwise the intent must set `mcc`.',
    }),
    countries: z.array(countrySchema).max(MAX_ENTRIES).default([]).meta({
      description: 'Countries of the merchant. Empty: any. Otherwise the intent must set `country`.',
    }),
  })
  .refine(
    constraints => Object.keys(moneyLimits).some(name => constraints[name as keyof typeof moneyLimits]),
    {
      path: ['totalCents'],
      error: 'set at least one limit: perTransactionEuros, perDayEuros, perMonthEuros or totalEuros',
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
    .meta({ description: 'Name of the mandate in decisions. Not signed.', examples: ['Books'] }),
  constraints: NewConstraints,
  expiresAt: instant.meta({
    description: `The time at which the mandate expires: in the future, and within ${MAX_MANDATE_DAYS} days.`,
    examples: ['2027-01-31T00:00:00.000Z'],
  }),
}

export const NewMandate = z.strictObject(newMandateMembers)

const left = (what: string) =>
  moneySchema
    .nullable()
    .meta({ description: `${what} Null: the mandate has no such limit. 0 once it has ended.` })

export const MandateRecord = z
  .object({
    ...recordHead('mandate'),
    agentId: id('agent'),
    name: z.string().nullable(),
    status: mandateStatusSchema,
    constraints: ConstraintsRecord,
    heldCents: moneySchema.meta({ description: 'Amount held for approved intents.' }),
    spentCents: moneySchema,
    dayLeftCents: left('Amount left today.'),
    monthLeftCents: left('Amount left this month.'),
    totalLeftCents: left('Amount left in total.'),
    countLeft: z
      .int()
      .nullable()
      .meta({ description: 'Number of payments left. Null: any number. 0 once the mandate has ended.' }),
    expiresAt: instant,
    suspendedBecause: z
      .enum(mandateSuspensionReasons)
      .nullable()
      .meta({ description: 'Why the mandate is suspended. Null unless it is `suspended`.' }),
    comment: z.string().nullable().meta({ description: 'Comment on the last change.' }),
    endedAt: instant
      .nullable()
      .meta({ description: 'The time at which the mandate was revoked, expired or was exhausted.' }),
    signedBy: z.object({ personId: id('person'), passkeyId: id('passkey') }),
    jws: z.string().meta({
      description:
        'The statement that the person signed, the passkey’s signature and public key, and the mandate, all signed by this installation: a compact JWS of type `mandate`. The keys of `/.well-known/jwks.json` verify it.',
      examples: ['eyJhbGciOiJFZERTQSIsImtpZCI6IjE2MyIsInR5cCI6Im1hbmRhdGUifQ.e30.c2lnbmF0dXJl'],
    }),
    workflowId: z.string().meta({ description: 'The run’s ID in the Temporal Web UI.' }),
    ...recordTimestamps,
  })
  .meta({ id: 'Mandate' })

export const MandateEvent = z.object({
  mandateId: id('mandate'),
  agentId: id('agent'),
  personId: id('person').meta({ description: 'The person who signed the mandate.' }),
  status: z.enum(mandateMachine.states),
  expiresAt: instant,
  suspendedBecause: z.enum(mandateSuspensionReasons).nullable(),
  reason: z.string().max(200).optional(),
})

/** Emitted by every operation that pays on intents, since any payment may exhaust a mandate. */
export const mandateExhaustedEvent = {
  'mandate.exhausted': declareEvent('Everything that a mandate allows has been paid.', MandateEvent),
}

export const mandateCreatedEvent = {
  'mandate.created': declareEvent('A person has signed a mandate for an agent.', MandateEvent),
}

export const mandateRevokedEvent = {
  'mandate.revoked': declareEvent('A mandate has been revoked.', MandateEvent),
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
  expires_too_early: [400, 'expiresAt: this must be in the future.'],
  expires_too_late: [400, `expiresAt: choose at most ${MAX_MANDATE_DAYS} days from now.`],
  too_many_mandates: [
    400,
    `agentId: the agent already has ${MAX_OPEN_MANDATES} open mandates. Revoke one that is no longer needed.`,
  ],
} as const satisfies Record<string, RefusalSpec>

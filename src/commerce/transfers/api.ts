import { z } from 'zod'
import { intentUseRefusals } from '../../control/intents/index.ts'
import { approverRefusals } from '../../identity/approvals/index.ts'
import {
  assertionEvents,
  assertionRefusals,
  ChallengeRecord,
  webauthnAssertionSchema,
  widening,
  wideningBySeveral,
} from '../../identity/passkeys/index.ts'
import { toSepaText } from '../../iso20022/sepa-charset.ts'
import { operationsFor, operator } from '../../kernel/contract/callers.ts'
import { declareEvent } from '../../kernel/contract/events.ts'
import { fileSchema } from '../../kernel/contract/file.ts'
import { notFound, type RefusalSpec } from '../../kernel/contract/operation.ts'
import { purseRefusal } from '../../money/wallets/index.ts'
import { id } from '../../values/ids.ts'
import { type Cents, moneySchema, positiveMoneySchema } from '../../values/money.ts'
import { freeTextSchema, timeRangeMembers } from '../../values/schemas.ts'
import { planTransferLimitsText } from './limits.ts'
import {
  completedTransferEvents,
  SplitEvent,
  sepaSchemeSchema,
  sepaTransferEvents,
  TransferRecord,
  transferStatusSchema,
} from './schemas.ts'
import { MAX_TRANSFER_CENTS, transferKinds } from './transfer.ts'

/** The length that the SEPA rulebooks allow for the remittance information. */
export const MAX_TRANSFER_REFERENCE_LENGTH = 140

export const transferReferenceSchema = z
  .string()
  .trim()
  .min(1)
  .max(MAX_TRANSFER_REFERENCE_LENGTH)
  .meta({ description: 'The purpose, shown to the payee.', examples: ['November budget'] })

function referenceProblem(text: string): string | undefined {
  const spelled = toSepaText(text, 10 * MAX_TRANSFER_REFERENCE_LENGTH)
  if (!/[A-Za-z0-9]/.test(spelled)) return 'it has no characters that a SEPA message can contain'
  if (spelled.length <= MAX_TRANSFER_REFERENCE_LENGTH) return undefined
  return `in SEPA’s characters it has ${spelled.length} characters, ${MAX_TRANSFER_REFERENCE_LENGTH} are allowed`
}

const transferMembers = {
  fromWalletId: id('wallet'),
  toWalletId: id('wallet').optional().meta({ description: 'One of your wallets, credited immediately.' }),
  beneficiaryId: id('beneficiary')
    .optional()
    .meta({ description: 'A payee with a bank account, paid by SEPA.' }),
  amountCents: positiveMoneySchema(MAX_TRANSFER_CENTS),
  scheme: sepaSchemeSchema.optional().meta({ description: 'Only with beneficiaryId. Defaults to `sct`.' }),
  reference: transferReferenceSchema.nullable().default(null),
  intentId: id('intent').optional().meta({
    description:
      'The approved intent that the transfer pays. An agent’s token must name an intent of its agent.',
  }),
}

interface Payment {
  readonly toWalletId?: string | undefined
  readonly beneficiaryId?: string | undefined
  readonly scheme?: string | undefined
  readonly reference: string | null
}

function checkPayment(
  { toWalletId, beneficiaryId, scheme, reference }: Payment,
  context: z.RefinementCtx,
): void {
  const addIssue = (name: string, message: string) =>
    context.addIssue({ code: 'custom', path: [name], message })
  if (beneficiaryId === undefined) {
    if (toWalletId === undefined) addIssue('toWalletId', 'send toWalletId or beneficiaryId')
    if (scheme !== undefined) addIssue('scheme', 'only for SEPA transfers')
    return
  }
  if (toWalletId !== undefined) addIssue('beneficiaryId', 'send either toWalletId or beneficiaryId')
  const problem = reference && referenceProblem(reference)
  if (problem) addIssue('reference', problem)
}

const signature = webauthnAssertionSchema.optional().meta({
  description:
    'In the console: the passkey’s signature of the challenge from `POST /passkeys/transfers/challenge`. A key needs none.',
})

const body = z.strictObject({ ...transferMembers, webauthnAssertion: signature }).superRefine(checkPayment)

const walletRefusals = {
  wallet_not_found: [404, 'No such wallet: fromWalletId and the payees must be your wallets.'],
  same_wallet: [400, 'toWalletId: this is the paying wallet. Name another one.'],
  wallet_frozen: [400, 'fromWalletId: the wallet is frozen. Unfreeze it first.'],
  wallet_closed: [400, 'The wallet is closed.'],
  wallet_of_card: purseRefusal('fromWalletId, toWalletId or parts'),
  insufficient_funds: [400, 'The wallet’s available balance is too low.'],
} as const satisfies Record<string, RefusalSpec>

const intentRefusals = {
  intent_required: [400, 'intentId: an agent can pay only on an approved intent of its own.'],
  approval_needed: [
    400,
    'amountEuros: a policy in force asks people for payments to others of this amount, from every wallet. Declare an intent of an agent, have it approved, and pay on it.',
  ],
  intent_not_found: [404, 'intentId: no such intent.'],
  ...intentUseRefusals,
  intent_not_approved: [400, 'intentId: only an approved intent can be paid, and only once.'],
  intent_being_paid: [400, 'intentId: a payment on the intent is already under way.'],
  intent_expired: [400, 'intentId: the intent’s deadline has passed. Declare it again.'],
  agent_not_active: [400, 'The agent is frozen or being deleted: it cannot spend.'],
  intent_other_merchant: [
    400,
    'intentId: the agent is locked to the first merchant that it paid, and the intent is for another one. Cancel the intent, or turn off lockToFirstMerchant.',
  ],
  intent_other_wallet: [400, 'fromWalletId: an intent is paid from its agent’s own wallet.'],
  intent_other_payee: [
    400,
    'The intent is for another payee: its walletId or beneficiaryId must be the same.',
  ],
  token_budget_exceeded: [400, 'amountEuros: it exceeds the token’s remaining budget.'],
  intent_payee_changed: [
    400,
    'intentId: the payee’s name or IBAN has changed since the intent was declared. Cancel the intent and declare it again.',
  ],
  intent_amount_exceeded: [400, 'amountEuros: it exceeds the hold of the intent.'],
} as const satisfies Record<string, RefusalSpec>

export const transferRefusals = {
  ...walletRefusals,
  beneficiary_not_found: [404, 'beneficiaryId: no such beneficiary.'],
  single_limit_exceeded: [400, 'The amount exceeds the limit for one transfer.'],
  daily_limit_exceeded: [400, 'The daily limit is reached.'],
  sepa_rail_missing: [503, 'Live mode has no SEPA rail.'],
  ...intentRefusals,
} as const satisfies Record<string, RefusalSpec>

const transfer_not_found = notFound('transfer')

const createDescription = [
  'An agent pays from its own wallet, on an approved intent whose `walletId` or `beneficiaryId` is the payee, and no more than its hold. Its risk is not scored again, but an agent that was frozen since then cannot pay.\n\nThe payment completes the intent and releases the rest of its hold and its limits. By SEPA the intent is completed when the transfer is submitted: until then it can be neither cancelled nor expire, and a cancelled transfer leaves it as it was. An unsubmitted transfer is cancelled immediately if the wallet or the agent is frozen, the delegation of its intent revoked or the account suspended. A later rejection or return credits the wallet and the limits; the intent stays completed, so declare another one to try again.',
  'A transfer between your wallets is completed at once, or refused and nothing moves.',
  'For a SEPA transfer, the money is held, and a durable process continues: `created`, `verifying` (the payee’s bank checks the name), `submitted`, `completed` or `rejected`. After a `close_match` or `no_match`, it waits in `verifying` for `confirm-payee` or `cancel`; freezing its wallet cancels it. A bank that has the order may also report on the payee: the transfer then waits in `submitted` for `confirm-payee`. A completed transfer can be `returned`. It is never paid twice: after a submission without an answer, the service asks the bank for the status (`reason.code` is `indeterminate` until then), for an instant payment after ten seconds at the latest. Money returned to a closed wallet is kept in suspense.',
  'In test mode the payee’s name decides the verification of payee, and the amount the outcome of the payment. € 666.01 to € 666.06 are rejected at once: AC04 (account closed), AM04 (not enough money), RC01 (wrong BIC), MS03 (no reason), AG01 (not allowed), AC06 (account blocked). € 666.07 is rejected an hour later: AB09. € 777.01 settles an hour later. The bank never answers for € 777.02; nor at first for € 777.03, which settles after a minute, and € 777.04, which is rejected after a minute: AB05. Its first answer for € 777.05 cannot be read, and it settles. € 777.06 stays pending until `/simulate/sepa/…` decides. All others settle immediately.',
].join('\n\n')

const readers = operationsFor({ callers: ['key', 'agent'], scope: 'transfers:read' })
const writers = operationsFor({ callers: ['key'], scope: 'transfers:create' })

export const transfersApi = {
  create: writers.post('/transfers', {
    summary: 'Pay from a wallet into another one, or by SEPA',
    tool: {
      name: 'create_transfer',
      isCommon: true,
      isFinal: true,
      use: 'Use it to pay a beneficiary by SEPA or another wallet, with the approved intent for it in intentId. The payment cannot be undone.',
    },
    description: createDescription,
    callers: ['key', 'agent'],
    run: 'hot',
    signature: { challenge: '/passkeys/transfers/challenge', always: true },
    body,
    example: {
      fromWalletId: 'wallet_01jd8x2m4ye7k9v0c3q5r6t8wz',
      beneficiaryId: 'beneficiary_01jd8x2m4ye7k9v0c3q5r6t8wz',
      amountEuros: 12.5,
      reference: 'Invoice 4711',
    },
    returns: [201, TransferRecord],
    fails: { ...transferRefusals, ...assertionRefusals },
    emits: { ...completedTransferEvents, ...assertionEvents },
  }),
  list: readers.list('/transfers', {
    summary: 'List transfers',
    description:
      'Newest first. An agent’s token sees transfers from its agent’s wallet; a delegation’s token those on intents declared under it.',
    filters: {
      agentId: id('agent').optional(),
      intentId: id('intent').optional(),
      status: transferStatusSchema.optional(),
      kind: z.enum(transferKinds).optional(),
      waitsFor: z
        .enum(['payee'])
        .optional()
        .meta({ description: '`payee`: transfers that wait for `confirm-payee`.' }),
      beneficiaryId: id('beneficiary').optional(),
      fromWalletId: id('wallet').optional(),
      toWalletId: id('wallet').optional(),
      ...timeRangeMembers,
    },
    item: TransferRecord,
  }),
  get: readers.getOne('/transfers/{id}', 'a transfer', TransferRecord, { transfer_not_found }),
  pain001: readers.get('/transfers/{id}/pain001', {
    readsClock: true,
    summary: 'Get the payment order of a transfer',
    description:
      'For a SEPA transfer: the ISO 20022 pain.001.001.09 message with this transfer only. The bank receives it together with those of the same cut-off.',
    callers: ['key'],
    requires: 'sepaRail',
    returns: [200, fileSchema('application/xml')],
    fails: {
      transfer_not_found,
      transfer_not_by_sepa: [400, 'The transfer is between wallets, so it has no payment order.'],
    },
  }),
  cancel: writers.post('/transfers/{id}/cancel', {
    summary: 'Cancel a transfer before its submission',
    description: 'Possible until the transfer is `submitted`. Releases the hold and the day’s limit.',
    body: z.strictObject({ comment: freeTextSchema.nullable().default(null) }),
    example: { comment: 'Paid otherwise' },
    returns: [200, TransferRecord],
    fails: {
      transfer_not_found,
      transfer_not_cancellable: [400, 'The transfer has already been submitted. Recall it instead.'],
    },
    emits: sepaTransferEvents,
  }),
  confirmPayee: writers.post('/transfers/{id}/confirm-payee', {
    summary: 'Confirm the payee of a transfer despite the bank’s doubt',
    description:
      'After a `close_match` or `no_match` a transfer stays in `verifying` until this or a cancellation; after seven days it is cancelled automatically. Where the amount exceeds a step of the policy of the agent that pays, a person confirms with a passkey, also with a key, and not the one who asked for the payment.\n\nIf the bank verifies the payee only after it has the order, in a status report, the transfer is `submitted` and waits after `not_possible`, too: this records who decided, and the order is released or cancelled in the bank’s own client.',
    scope: 'transfers:confirm-payee',
    body: z.strictObject({ comment: freeTextSchema.nullable().default(null), ...wideningBySeveral.members }),
    example: { comment: 'It is their trade name' },
    returns: [200, TransferRecord],
    signature: widening.signature,
    fails: {
      ...widening.fails,
      ...wideningBySeveral.fails,
      own_request: approverRefusals.own_request,
      transfer_not_found,
      payee_not_waiting: [400, 'The transfer does not wait for its payee to be confirmed.'],
    },
    emits: { ...widening.emits, ...sepaTransferEvents },
  }),
  recall: writers.post('/transfers/{id}/recall', {
    summary: 'Recall a transfer',
    description:
      'The payee’s bank may refuse; `recall` of the transfer shows the answer. In test mode it agrees, except for these amounts: € 888.01 is refused because the payee does not agree, € 888.02 because the account is closed, € 888.03 is never decided, and for € 888.04 the bank does not answer.\n\nA recalled transfer is `returned`, or `rejected` if it had not settled yet.',
    body: z.strictObject({ reason: freeTextSchema.min(1).meta({ examples: ['It was paid twice'] }) }),
    example: { reason: 'It was paid twice' },
    returns: [200, TransferRecord],
    fails: {
      transfer_not_found,
      transfer_not_recallable: [400, 'Only a submitted SEPA transfer that was not returned can be recalled.'],
      recall_under_way: [400, 'The transfer has already been recalled.'],
    },
    emits: sepaTransferEvents,
  }),
}

const partRefusals = {
  part_of_nothing: [400, 'amountEuros: too little to give every part a cent.'],
  too_much: [400, 'parts: their sum exceeds the limit for one transfer.'],
} as const satisfies Record<string, RefusalSpec>

const part = z.strictObject({
  walletId: id('wallet'),
  amountCents: positiveMoneySchema(MAX_TRANSFER_CENTS).optional(),
  share: z.number().min(0.0001).max(1_000_000).multipleOf(0.0001).optional(),
})

const splitMembers = {
  fromWalletId: id('wallet'),
  amountCents: positiveMoneySchema(MAX_TRANSFER_CENTS)
    .optional()
    .meta({ description: 'The amount to divide; only with shares.' }),
  parts: z.array(part).min(1).max(1_000),
  reference: transferReferenceSchema.nullable().default(null),
}

interface Parts {
  readonly amountCents?: Cents | undefined
  readonly parts: readonly z.output<typeof part>[]
}

function checkParts({ amountCents, parts }: Parts, context: z.RefinementCtx): void {
  const byShare = amountCents !== undefined
  const [required, excluded] = byShare
    ? (['share', 'amountCents'] as const)
    : (['amountCents', 'share'] as const)
  // Reports only the first invalid part, since the others are most likely invalid for the same reason.
  const index = parts.findIndex(part => part[required] === undefined || part[excluded] !== undefined)
  const addIssue = (name: string, message: string) =>
    context.addIssue({ code: 'custom', path: ['parts', index, name], message })
  const wrong = parts[index]
  if (wrong && wrong[required] === undefined)
    addIssue(required, byShare ? 'every part needs a share of amountEuros' : 'every part needs its amount')
  if (wrong && wrong[excluded] !== undefined)
    addIssue(excluded, byShare ? 'the parts are given by their shares' : 'a share is one of amountEuros')
}

export const splitTransferApi = {
  split: writers.post('/transfers/split', {
    summary: 'Split a payment from one wallet into several',
    description:
      'All parts are paid, or none. Each part has an amount, or all have shares of `amountEuros`; leftover cents then go to the parts that lost most by rounding.',
    limits: { bodyKiB: 256 },
    signature: { challenge: '/passkeys/transfers/challenge', always: true },
    body: z.strictObject({ ...splitMembers, webauthnAssertion: signature }).superRefine(checkParts),
    example: {
      fromWalletId: 'wallet_01jd8x2m4ye7k9v0c3q5r6t8wz',
      parts: [
        { walletId: 'wallet_01jd8x2m4ye7k9v0c3q5r6t8wz', amountEuros: 15.5 },
        { walletId: 'wallet_01jd8x2m4ye7k9v0c3q5r6t8wz', amountEuros: 10 },
      ],
    },
    returns: [201, TransferRecord],
    fails: {
      ...walletRefusals,
      ...partRefusals,
      ...assertionRefusals,
    },
    emits: {
      'transfer.split.completed': declareEvent('A split payment has been completed.', SplitEvent),
      ...assertionEvents,
    },
  }),
}

const { wallet_not_found } = walletRefusals
const { beneficiary_not_found, intent_not_found } = transferRefusals

const ONE_PAYEE = ['toWalletId', 'beneficiaryId', 'scheme', 'intentId'] as const

const challengeBody = z
  .strictObject({
    ...transferMembers,
    amountCents: transferMembers.amountCents.optional(),
    parts: splitMembers.parts.optional(),
  })
  .superRefine((payment, context) => {
    const addIssue = (name: string, message: string) =>
      context.addIssue({ code: 'custom', path: [name], message })
    const { parts, amountCents } = payment
    if (parts === undefined) {
      if (amountCents === undefined) addIssue('amountCents', 'send amountEuros, or an amount in each part')
      return checkPayment(payment, context)
    }
    for (const name of ONE_PAYEE)
      if (payment[name] !== undefined) addIssue(name, 'not allowed in a split payment')
    checkParts({ amountCents, parts }, context)
  })

export const transferChallengeApi = {
  challenge: writers.post('/passkeys/transfers/challenge', {
    summary: 'Get what a passkey signs to pay from the console',
    description:
      'Takes the body of `POST /transfers` or `POST /transfers/split`, which you then send with the signature. The signature covers the sum and every payee, with name, account and amount: if any of them differs, it is invalid. The challenge expires after five minutes and can be used once. A key needs no signature; one that it sends is verified.',
    tag: 'Passkeys',
    requires: 'passkeys',
    limits: { bodyKiB: 256 },
    body: challengeBody,
    example: {
      fromWalletId: 'wallet_01jd8x2m4ye7k9v0c3q5r6t8wz',
      beneficiaryId: 'beneficiary_01jd8x2m4ye7k9v0c3q5r6t8wz',
      amountEuros: 12.5,
      reference: 'Invoice 4711',
    },
    returns: [201, ChallengeRecord],
    fails: { wallet_not_found, beneficiary_not_found, intent_not_found, ...partRefusals },
  }),
}

const mode = z.enum(['test', 'live'])

const LimitsRecord = z
  .object({
    ownerId: id('customer'),
    mode,
    singleCents: moneySchema.meta({ description: 'The limit for one SEPA transfer.' }),
    dailyCents: moneySchema.meta({ description: 'The limit for SEPA transfers per UTC day.' }),
    day: z.iso.date(),
    usedCents: moneySchema.meta({
      description: 'Amount used of the day’s limit, without cancelled transfers.',
    }),
    remainingCents: moneySchema,
  })
  .meta({ id: 'TransferLimits' })

export const transferLimitsApi = {
  limits: readers.get('/transfers/limits', {
    summary: 'Get the limits for SEPA transfers',
    callers: ['key'],
    returns: [200, LimitsRecord],
  }),
  setLimits: operator.put('/customers/{id}/transfer-limits', {
    summary: 'Set an owner’s limits for SEPA transfers',
    description: `Null: the plan’s limit, for one transfer and for a day: ${planTransferLimitsText}.`,
    body: z.strictObject({ mode, singleCents: moneySchema.nullable(), dailyCents: moneySchema.nullable() }),
    example: { mode: 'test', singleEuros: 20_000, dailyEuros: null },
    returns: [200, LimitsRecord],
    fails: { customer_not_found: notFound('customer') },
    emits: {
      'transfer.limits_changed': declareEvent(
        'The limits for SEPA transfers have changed.',
        z.object({
          ownerId: id('customer'),
          mode,
          singleCents: moneySchema,
          dailyCents: moneySchema,
        }),
      ),
    },
  }),
}

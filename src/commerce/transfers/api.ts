import { z } from 'zod'
import {
  assertionEvents,
  assertionRefusals,
  ChallengeRecord,
  webauthnAssertion,
} from '../../identity/passkeys/index.ts'
import { sepaText } from '../../iso20022/sepa-charset.ts'
import { event } from '../../kernel/contract/events.ts'
import { file } from '../../kernel/contract/file.ts'
import { type Failure, get, list, missing, post, put } from '../../kernel/contract/operation.ts'
import { purseRefusal } from '../../money/wallets/index.ts'
import { id } from '../../values/ids.ts'
import { euros, positiveEuros } from '../../values/money.ts'
import { freeText, timeRange } from '../../values/schemas.ts'
import { plansInWords } from './limits.ts'
import {
  madeTransferEvents,
  SplitEvent,
  scheme,
  sepaTransferEvents,
  status,
  TransferRecord,
} from './schemas.ts'
import { MAX_TRANSFER, transferKinds } from './transfer.ts'

/** The length that the SEPA rulebooks allow for the remittance information. */
export const MAX_REFERENCE_LENGTH = 140

const reference = z
  .string()
  .trim()
  .min(1)
  .max(MAX_REFERENCE_LENGTH)
  .meta({ description: 'What it is for, as the payee reads it.', examples: ['Budget of November'] })

function referenceProblem(text: string): string | undefined {
  const spelled = sepaText(text, 10 * MAX_REFERENCE_LENGTH)
  if (!/[A-Za-z0-9]/.test(spelled)) return 'nothing of it can be spelled in a SEPA message'
  if (spelled.length <= MAX_REFERENCE_LENGTH) return undefined
  return `spelled for SEPA it has ${spelled.length} characters, ${MAX_REFERENCE_LENGTH} are allowed`
}

const transferMembers = {
  fromWalletId: id('wallet'),
  toWalletId: id('wallet').optional().meta({ description: 'A wallet of yours: the money is there at once.' }),
  beneficiaryId: id('beneficiary').optional().meta({ description: 'Somebody with a bank account, by SEPA.' }),
  amountEuros: positiveEuros(MAX_TRANSFER),
  scheme: scheme.optional().meta({ description: 'With beneficiaryId only; `sct` if not given.' }),
  reference: reference.nullable().default(null),
  intentId: id('intent')
    .optional()
    .meta({ description: 'The approved intent that it pays. An agent’s token must name one of its own.' }),
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
    if (toWalletId === undefined) addIssue('toWalletId', 'give it, or beneficiaryId')
    if (scheme !== undefined) addIssue('scheme', 'a transfer between wallets has none')
    return
  }
  if (toWalletId !== undefined) addIssue('beneficiaryId', 'give it or toWalletId, not both')
  const problem = reference && referenceProblem(reference)
  if (problem) addIssue('reference', problem)
}

const signature = webauthnAssertion.optional().meta({
  description:
    'In the console: what a passkey has signed over `POST /passkeys/transfers/challenge`. A key needs none.',
})

const body = z.strictObject({ ...transferMembers, webauthnAssertion: signature }).superRefine(checkPayment)

const walletRefusals = {
  wallet_not_found: [404, 'No such wallet: fromWalletId and the payees must be wallets of yours.'],
  same_wallet: [400, 'toWalletId: the money is in this wallet already.'],
  wallet_frozen: [400, 'fromWalletId: the wallet is frozen, nothing leaves it.'],
  wallet_closed: [400, 'The wallet is closed.'],
  wallet_of_card: purseRefusal('fromWalletId, toWalletId or parts'),
  insufficient_funds: [400, 'There is not enough in the wallet.'],
} as const satisfies Record<string, Failure>

const intentRefusals = {
  intent_required: [400, 'intentId: an agent pays on an approved intent of its own.'],
  intent_not_found: [404, 'intentId: no such intent.'],
  intent_not_approved: [400, 'intentId: only an approved intent can be paid, and once.'],
  intent_being_paid: [400, 'intentId: a payment on it is under way already.'],
  intent_expired: [400, 'intentId: its deadline has passed. Declare it again.'],
  agent_not_active: [400, 'The agent is frozen or being deleted: it cannot spend.'],
  intent_other_merchant: [
    400,
    'intentId: the agent pays only the merchant that it has paid first, and the intent is for another one. Cancel the intent, or switch lockToFirstMerchant off.',
  ],
  intent_other_wallet: [400, 'fromWalletId: an intent is paid from its agent’s own wallet.'],
  intent_other_payee: [
    400,
    'The intent is for another payee: its walletId or beneficiaryId must be the same.',
  ],
  token_budget_exceeded: [400, 'amountEuros: it is more than is left of the budget of the token.'],
  intent_payee_changed: [
    400,
    'intentId: its payee has another name or IBAN than when it was declared. Cancel the intent and declare it again.',
  ],
  intent_amount_exceeded: [400, 'amountEuros: it is more than is held for the intent.'],
} as const satisfies Record<string, Failure>

export const payRefusals = {
  ...walletRefusals,
  beneficiary_not_found: [404, 'beneficiaryId: no such beneficiary.'],
  single_limit_exceeded: [400, 'It is above the limit for one transfer.'],
  daily_limit_exceeded: [400, 'The daily limit is reached.'],
  sepa_rail_missing: [503, 'Live mode has no rail to pay by SEPA with.'],
  ...intentRefusals,
} as const satisfies Record<string, Failure>

const transfer_not_found = missing('transfer')

const createDescription = [
  'An agent pays from its own wallet, on an approved intent whose `walletId` or `beneficiaryId` is the payee, and no more than is held for it. It is not scored again: the risk that the intent was declared with is that of its one payment, and who has been frozen since then pays nothing. The payment completes the intent, and what is left of its money and of its limits is free again. By SEPA the intent is completed when the transfer is submitted: until then it can be neither cancelled nor expire, and a transfer that is cancelled leaves it as it was. Until it is submitted it is cancelled, at once, by whoever freezes the wallet or the agent, revokes the delegation of its intent or suspends the account. What is rejected or returned later comes back to the wallet and to the limits; the intent stays completed, so declare another one to try again.',
  'Between your wallets it is completed at once, or refused and nothing moved.',
  'By SEPA the money is held, and a durable process takes it further: `created`, `verifying` (the payee’s bank is asked about the name), `submitted`, `completed` or `rejected`. After a `close_match` or `no_match` it waits in `verifying` for `confirm-payee` or `cancel`; freezing its wallet cancels it. A bank that has the order may report on the payee, too: then it waits in `submitted` for `confirm-payee`. What was completed can come back: `returned`. It never leaves twice: of a submission without an answer the bank is asked how it stands (`reason.code` `indeterminate` meanwhile), an instant one at the latest after its ten seconds. Money that comes back to a wallet that was closed meanwhile is kept in suspense.',
  'In test mode the payee’s name decides what its bank says, as in the verification of payee, and the amount what becomes of the payment. € 666.01 to € 666.06 are rejected at once: AC04 (account closed), AM04 (not enough money), RC01 (wrong BIC), MS03 (no reason), AG01 (not allowed), AC06 (account blocked). € 666.07 is rejected an hour later: AB09. € 777.01 settles an hour later. The bank gives no answer to € 777.02, ever; to € 777.03, which has settled after a minute; to € 777.04, which was rejected after a minute: AB05. What it says of € 777.05 at first cannot be used, and it has settled. € 777.06 stays on its way until `/simulate/sepa/…` says what becomes of it. All others settle at once.',
].join('\n\n')

export const transfersApi = {
  create: post('/transfers', {
    summary: 'Pay from a wallet into another one, or by SEPA',
    tool: {
      name: 'create_transfer',
      isCommon: true,
      isFinal: true,
      use: 'Use it to pay a beneficiary by SEPA or another wallet, with the approved intent for it in intentId. It cannot be called back.',
    },
    description: createDescription,
    callers: ['key', 'agent'],
    scope: 'transfers:create',
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
    fails: { ...payRefusals, ...assertionRefusals },
    emits: { ...madeTransferEvents, ...assertionEvents },
  }),
  list: list('/transfers', {
    summary: 'List transfers',
    description:
      'Newest first. An agent’s token sees what is paid from its agent’s wallet; that of a delegation what is paid on intents which were declared under it.',
    callers: ['key', 'agent'],
    scope: 'transfers:read',
    filters: {
      agentId: id('agent').optional(),
      intentId: id('intent').optional(),
      status: status.optional(),
      kind: z.enum(transferKinds).optional(),
      waitsFor: z
        .enum(['payee'])
        .optional()
        .meta({ description: '`payee`: those that wait for `confirm-payee`.' }),
      beneficiaryId: id('beneficiary').optional(),
      fromWalletId: id('wallet').optional(),
      toWalletId: id('wallet').optional(),
      ...timeRange,
    },
    item: TransferRecord,
  }),
  get: get('/transfers/{id}', {
    summary: 'Get a transfer',
    callers: ['key', 'agent'],
    scope: 'transfers:read',
    returns: [200, TransferRecord],
    fails: { transfer_not_found },
  }),
  pain001: get('/transfers/{id}/pain001', {
    readsClock: true,
    summary: 'Get the payment order of a transfer',
    description:
      'Of a transfer by SEPA: the pain.001.001.09 message of ISO 20022 that orders it and nothing else. To the bank it goes together with those of the same cut-off.',
    callers: ['key'],
    scope: 'transfers:read',
    requires: 'sepaRail',
    returns: [200, file('application/xml')],
    fails: {
      transfer_not_found,
      transfer_not_by_sepa: [400, 'The transfer is between wallets: no bank is told to make it.'],
    },
  }),
  cancel: post('/transfers/{id}/cancel', {
    summary: 'Cancel a transfer that has not left',
    description: 'Until it is `submitted`. The money is free again, and so is the day’s limit.',
    callers: ['key'],
    scope: 'transfers:create',
    body: z.strictObject({ comment: freeText.nullable().default(null) }),
    example: { comment: 'Paid otherwise' },
    returns: [200, TransferRecord],
    fails: {
      transfer_not_found,
      transfer_not_cancellable: [400, 'The transfer has left already. Ask for it back: recall it.'],
    },
    emits: sepaTransferEvents,
  }),
  confirmPayee: post('/transfers/{id}/confirm-payee', {
    summary: 'Pay although the bank knows the payee otherwise',
    description:
      'After a `close_match` or `no_match` a transfer stays in `verifying` until this or a cancellation; after seven days it is cancelled by itself. Where the bank verifies the payee after it has the order, in a status report, the transfer is `submitted` and waits after `not_possible`, too: this records who decided, and the order is released, or cancelled, in the bank’s own client.',
    callers: ['key'],
    scope: 'transfers:confirm-payee',
    body: z.strictObject({ comment: freeText.nullable().default(null) }),
    example: { comment: 'It is their trade name' },
    returns: [200, TransferRecord],
    fails: {
      transfer_not_found,
      payee_not_waiting: [400, 'The transfer does not wait for its payee to be confirmed.'],
    },
    emits: sepaTransferEvents,
  }),
  recall: post('/transfers/{id}/recall', {
    summary: 'Ask for a transfer back',
    description:
      'The payee’s bank is asked, and may refuse; `recall` of the transfer tells. In test mode it agrees, except for these amounts: € 888.01 is refused because the payee does not agree, € 888.02 because the account is closed, € 888.03 is never decided, about € 888.04 the bank does not answer. What is given back is `returned`; what had not settled yet is `rejected`.',
    callers: ['key'],
    scope: 'transfers:create',
    body: z.strictObject({ reason: freeText.min(1).meta({ examples: ['It was paid twice'] }) }),
    example: { reason: 'It was paid twice' },
    returns: [200, TransferRecord],
    fails: {
      transfer_not_found,
      transfer_not_recallable: [400, 'Only what has left by SEPA and is not back can be asked for.'],
      recall_under_way: [400, 'It has been asked for already.'],
    },
    emits: sepaTransferEvents,
  }),
}

const partRefusals = {
  part_of_nothing: [400, 'amountEuros: too little to give every part a cent.'],
  too_much: [400, 'parts: together they are more than one transfer may be.'],
} as const satisfies Record<string, Failure>

const part = z.strictObject({
  walletId: id('wallet'),
  amountEuros: positiveEuros(MAX_TRANSFER).optional(),
  share: z.number().min(0.0001).max(1_000_000).multipleOf(0.0001).optional(),
})

const splitMembers = {
  fromWalletId: id('wallet'),
  amountEuros: positiveEuros(MAX_TRANSFER)
    .optional()
    .meta({ description: 'What is divided; with shares only.' }),
  parts: z.array(part).min(1).max(1_000),
  reference: reference.nullable().default(null),
}

interface Parts {
  readonly amountEuros?: bigint | undefined
  readonly parts: readonly z.output<typeof part>[]
}

function checkParts({ amountEuros, parts }: Parts, context: z.RefinementCtx): void {
  const byShare = amountEuros !== undefined
  const [required, excluded] = byShare
    ? (['share', 'amountEuros'] as const)
    : (['amountEuros', 'share'] as const)
  // Only the first invalid part is reported: the others are most likely invalid for the same reason.
  const index = parts.findIndex(part => part[required] === undefined || part[excluded] !== undefined)
  const addIssue = (name: string, message: string) =>
    context.addIssue({ code: 'custom', path: ['parts', index, name], message })
  const wrong = parts[index]
  if (wrong && wrong[required] === undefined)
    addIssue(required, byShare ? 'every part needs a share of amountEuros' : 'every part needs its amount')
  if (wrong && wrong[excluded] !== undefined)
    addIssue(excluded, byShare ? 'the parts are given by their shares' : 'a share is one of amountEuros')
}

export const splitApi = {
  split: post('/transfers/split', {
    summary: 'Pay from a wallet into many',
    description:
      'All or nothing. Each part has an amount; or all have shares of `amountEuros`, and the cents that rounding leaves go to those who lost most by it.',
    callers: ['key'],
    scope: 'transfers:create',
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
      'transfer.split.completed': event('A payment into many wallets is done.', SplitEvent),
      ...assertionEvents,
    },
  }),
}

const { wallet_not_found } = walletRefusals
const { beneficiary_not_found, intent_not_found } = payRefusals

const ONE_PAYEE = ['toWalletId', 'beneficiaryId', 'scheme', 'intentId'] as const

const challengeBody = z
  .strictObject({
    ...transferMembers,
    amountEuros: transferMembers.amountEuros.optional(),
    parts: splitMembers.parts.optional(),
  })
  .superRefine((payment, context) => {
    const addIssue = (name: string, message: string) =>
      context.addIssue({ code: 'custom', path: [name], message })
    const { parts, amountEuros } = payment
    if (parts === undefined) {
      if (amountEuros === undefined) addIssue('amountEuros', 'give it, or parts')
      return checkPayment(payment, context)
    }
    for (const name of ONE_PAYEE)
      if (payment[name] !== undefined) addIssue(name, 'a payment into many wallets has none')
    checkParts({ amountEuros, parts }, context)
  })

export const challengeApi = {
  challenge: post('/passkeys/transfers/challenge', {
    summary: 'Get what a passkey signs to pay from the console',
    description:
      'The body is that of `POST /transfers`, or of `POST /transfers/split`, with which the signature is then sent along. It is over the sum and every payee, with name, account and amount: once any of them is another one, it is worth nothing. It can be signed for five minutes, and used once. A key pays without; a signature that it brings is checked all the same.',
    tag: 'Passkeys',
    requires: 'passkeys',
    callers: ['key'],
    scope: 'transfers:create',
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
    singleEuros: euros.meta({ description: 'The most that one transfer by SEPA may be.' }),
    dailyEuros: euros.meta({ description: 'The most that may leave by SEPA in a day of UTC.' }),
    day: z.iso.date(),
    usedEuros: euros.meta({
      description: 'Taken of the day: all of its transfers but those that never left.',
    }),
    remainingEuros: euros,
  })
  .meta({ id: 'TransferLimits' })

export const limitsApi = {
  limits: get('/transfers/limits', {
    summary: 'See how much may leave by SEPA',
    callers: ['key'],
    scope: 'transfers:read',
    returns: [200, LimitsRecord],
  }),
  setLimits: put('/customers/{id}/transfer-limits', {
    summary: 'Set how much may leave an owner’s wallets by SEPA',
    description: `Null is what the plan says, for one transfer and for a day: ${plansInWords}.`,
    callers: ['dash'],
    body: z.strictObject({ mode, singleEuros: euros.nullable(), dailyEuros: euros.nullable() }),
    example: { mode: 'test', singleEuros: 20_000, dailyEuros: null },
    returns: [200, LimitsRecord],
    fails: { customer_not_found: missing('customer') },
    emits: {
      'transfer.limits_changed': event(
        'How much may leave by SEPA has changed.',
        z.object({
          ownerId: id('customer'),
          mode,
          singleEuros: euros,
          dailyEuros: euros,
        }),
      ),
    },
  }),
}

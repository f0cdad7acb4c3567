import type Stripe from 'stripe'
import { isProcessorFailure } from '../../../ports/card-processor.ts'
import type { ChargeState, FundingRail } from '../../../ports/funding-rail.ts'
import {
  STRIPE_LIST_TIMEOUTS,
  STRIPE_TIMEOUTS,
  type StripeAccount,
  stripeCaller,
} from '../issuing/connection.ts'
import { findCharge, makeCharge } from './charges.ts'
import {
  createSetupPage,
  detachMethod,
  eraseCustomer,
  findInstrument,
  isStripesMethod,
} from './instruments.ts'
import { readFundingNotice } from './notices.ts'
import { listReturns } from './returns.ts'

/** Charges cards and bank accounts (SEPA direct debit) that people have entered at Stripe, by payment intents. */
export function stripeFunding(account: StripeAccount, patience = STRIPE_TIMEOUTS): FundingRail {
  const ask = stripeCaller(account, patience)
  const askForList = stripeCaller(account, STRIPE_LIST_TIMEOUTS)
  return {
    name: 'stripe',
    async setUp(setup, call) {
      const answer = await ask(stripe => createSetupPage(stripe, setup, call))
      if (!isProcessorFailure(answer)) return answer
      return answer.failure === 'refused' ? { refused: answer.message } : 'silent'
    },
    async instrumentOf(token, call) {
      const answer = await ask(stripe => findInstrument(stripe, token, call))
      if (!isProcessorFailure(answer)) return 'missing' in answer ? answer.missing : answer
      return answer.failure === 'refused' ? 'unknown' : 'silent'
    },
    /** Stripe refuses to detach what is detached, or what it does not know: it cannot be charged. */
    async forget(token) {
      if (!isStripesMethod(token)) return 'forgotten'
      const answer = await ask(stripe => detachMethod(stripe, token))
      return isProcessorFailure(answer) && answer.failure !== 'refused' ? 'silent' : 'forgotten'
    },
    /** What Stripe does not know is erased. */
    async erase(token) {
      if (!isStripesMethod(token)) return 'erased'
      const answer = await ask(stripe => eraseCustomer(stripe, token))
      return isProcessorFailure(answer) && answer.failure !== 'refused' ? 'silent' : 'erased'
    },
    async charge(charge, call) {
      if (!isStripesMethod(charge.token)) return NOT_OF_STRIPE
      return stateOrSilent(await ask(stripe => makeCharge(stripe, charge, call)))
    },
    async stateOf(charge, call) {
      if (!isStripesMethod(charge.token)) return NOT_OF_STRIPE
      return stateOrSilent(await ask(stripe => findCharge(stripe, charge, call)))
    },
    async returnsSince(since) {
      const answer = await askForList((stripe: Stripe) => listReturns(stripe, since))
      return isProcessorFailure(answer) ? null : answer
    },
    recognizes: headers => headers['stripe-signature'] !== undefined,
    read: (body, headers, now) => readFundingNotice(body, headers, now, account.webhookSecrets, ask),
  }
}

const NOT_OF_STRIPE: ChargeState = {
  status: 'failed',
  reason: { code: 'payment_method_unknown', message: 'It was added at another processor. Add it again.' },
}

type Answered = Awaited<ReturnType<typeof makeCharge>>

/** Any failure leaves the state open, even a refusal: what is refused may be a question about a payment that exists. */
const stateOrSilent = (answer: Answered): ChargeState =>
  isProcessorFailure(answer) ? { status: 'silent' } : answer

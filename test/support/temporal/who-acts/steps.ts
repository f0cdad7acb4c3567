/** A step of a flow. */
export interface Step {
  readonly activity: string
  /** What `rescues_total` counts if the sweep takes it. */
  readonly operation: string
  /** The write that records it, as event and condition of a trigger. */
  readonly written: string
  /** How often it is taken. */
  readonly times: number
}

/** The first event of a step, which is in the transaction that records it. */
const eventBy = (action: string): string =>
  `before insert on events for each row when (new.action = '${action}')`

const updateOf = (table: string, condition: string): string =>
  `before update on ${table} for each row when (${condition})`

const steps = {
  expireIntent: {
    operation: 'intents.expire',
    written: `before insert on events for each row when (new.event = 'intent.expired')`,
  },
  expireCardRequest: {
    operation: 'cardRequests.expire',
    written: updateOf('card_requests', `new.status = 'expired'`),
  },
  carryOutCardRequest: {
    operation: 'cardRequests.carryOut',
    written: updateOf('card_requests', 'old.card_id is null and new.card_id is not null'),
  },
  issueCard: {
    operation: 'cards.issue',
    written: updateOf('cards', 'old.number_id is null and new.number_id is not null'),
  },
  replaceNumber: {
    operation: 'cards.replace',
    written: updateOf('cards', 'old.next_number_id is not null and new.next_number_id is null'),
  },
  tellProcessor: {
    operation: 'cards.tell',
    // The card of a deleted agent sends its state beside the agent’s next step, which needs the same lock.
    written: updateOf(
      'card_numbers',
      'old.processor_state <> new.processor_state and not is_of_deleted_agent(new.card_id)',
    ),
  },
  endCard: {
    operation: 'cards.end',
    written: updateOf('card_numbers', `old.status = 'retiring' and new.status = 'replaced'`),
  },
  returnPurse: {
    operation: 'cards.returnPurse',
    written: updateOf('cards', 'old.purse_due_at is not null and new.purse_due_at is null'),
  },
  verifyPayee: {
    operation: 'transfers.verify',
    written: updateOf('transfers', 'old.payee_check is null and new.payee_check is not null'),
  },
  submitPayment: {
    operation: 'transfers.submit',
    written: updateOf('transfers', `old.status = 'submitted' and new.status = 'completed'`),
  },
  // A lost answer of the bank, an acquirer or a processor is asked for again after the next pause, which may be hours.
  askRail: {
    operation: 'transfers.inquire',
    written: updateOf('transfers', 'new.inquiries > old.inquiries'),
  },
  cancelUnconfirmed: {
    operation: 'transfers.lapse',
    written: updateOf('transfers', `new.status = 'cancelled'`),
  },
  leaveOutcomeOpen: {
    operation: 'mpp.settle',
    written: updateOf('mpp_credentials', `old.status = 'sent' and new.status = 'indeterminate'`),
  },
  endUnpaid: {
    operation: 'mpp.settle',
    written: updateOf('mpp_credentials', `new.status = 'void' and new.outcome_by = 'deadline'`),
  },
  deleteNetworkToken: {
    operation: 'mpp.deleteToken',
    written: updateOf(
      'agent_credentials',
      'old.processor_problem is not null and new.processor_problem is null',
    ),
  },
  expirePaymentRequest: {
    operation: 'collect.expire',
    written: updateOf('payment_requests', `new.status = 'expired'`),
  },
  followRefunds: {
    operation: 'collect.followRefunds',
    written: updateOf('refunds', 'old.request_id is not null and new.ask_due_at > old.ask_due_at'),
  },
  giveUpRefund: {
    operation: 'refunds.expire',
    written: updateOf('refunds', `new.status = 'failed'`),
  },
  callAboutDispute: {
    operation: 'disputes.callProcessor',
    written: updateOf(
      'disputes',
      'old.processor_dispute_id is null and new.processor_dispute_id is not null',
    ),
  },
  followDisputeDeadlines: {
    operation: 'disputes.followDeadlines',
    written: updateOf('disputes', `new.status = 'lapsed'`),
  },
  expirePolicy: { operation: 'policies.expire', written: eventBy('policies.expire') },
  closeCards: { operation: 'cards.endForAgent', written: eventBy('cards.endForAgent') },
  cancelIntents: { operation: 'intents.endForAgent', written: eventBy('intents.endForAgent') },
  endRuns: { operation: 'runs.endForAgent', written: eventBy('runs.endForAgent') },
  returnMoney: { operation: 'agents.sweep', written: eventBy('agents.sweep') },
  finishDeletion: { operation: 'agents.finishDeletion', written: eventBy('agents.finishDeletion') },
  submitIdentity: { operation: 'kyc.submit', written: eventBy('kyc.submit') },
  askProvider: { operation: 'kyc.inquire', written: eventBy('kyc.inquire') },
  askMerchantForRefund: {
    operation: 'refunds.ask',
    written: updateOf('refunds', 'old.request_id is null and new.ask_due_at > old.ask_due_at'),
  },
  sendAgain: {
    operation: 'webhooks.attempt',
    written: updateOf('deliveries', `old.status = 'pending' and new.status = 'delivered'`),
  },
} as const satisfies Readonly<Record<string, Omit<Step, 'activity' | 'times'>>>

export const step = (activity: keyof typeof steps, times = 1): Step => ({
  activity,
  ...steps[activity],
  times,
})

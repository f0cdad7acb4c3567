const OF_OWNER =
  'Usually, the id is misspelt, or its record belongs to another owner or to the other mode (test or live).'
const OF_AGENT =
  'Usually, the id is misspelt, or its record belongs to another agent or owner, or to the other mode (test or live).'
const REPEATED_REQUEST =
  'Often, a client has repeated a request without its `Idempotency-Key`, and the first one made the record.'
const SILENT = 'The other system is slow, or this installation cannot reach it.'
const SIMULATED = 'The simulated merchant of the sandbox plays this scenario.'
const OF_OPERATOR = 'Usually, the id is misspelt, or it is that of a record of another kind.'
const SEEN_BEFORE =
  'It was done before: by a first request whose answer was lost, by another program, or by a person in the console.'
const OF_PAST = 'The clock of the client is wrong, or the time is in another zone.'
const MERCHANTS_CHOICE =
  'The merchant’s challenge lists what it accepts, and the agent can pay by nothing on it.'

/** For codes whose messages leave the cause open. A cause is true for every operation that returns the code. */
export const operationCauses: Readonly<Record<string, string>> = {
  agent_not_found: OF_OWNER,
  channel_not_found: OF_OWNER,
  deputy_not_found: OF_OWNER,
  change_request_not_found: OF_OWNER,
  beneficiary_not_found: OF_OWNER,
  mandate_not_found: OF_OWNER,
  policy_not_found: OF_OWNER,
  receipt_not_found: OF_OWNER,
  refund_not_found: OF_OWNER,
  transaction_not_found: OF_AGENT,
  transfer_not_found: OF_AGENT,
  webhook_not_found: OF_OWNER,
  card_not_found: OF_AGENT,
  intent_not_found: OF_AGENT,
  run_not_found: OF_AGENT,
  client_intent_id_taken: REPEATED_REQUEST,
  external_id_taken: REPEATED_REQUEST,
  bank_silent: SILENT,
  merchant_timeout: SILENT,
  payment_unanswered: SILENT,
  processor_silent: SILENT,
  failed: SIMULATED,
  forbidden: SIMULATED,
  moved: SIMULATED,
  insufficient_funds:
    'Less is available than the amount. In a wallet, money that is held for other payments is not available.',
  intent_not_approved:
    'The intent still waits (`created`), or has ended as `completed`, `denied`, `cancelled` or `expired`.',
  intent_not_waiting:
    'The policy or a mandate decided at once, a person decided later, or the intent was cancelled or has expired.',
  scope_not_held:
    'A credential or person can only give, replace or take away scopes that they have themselves. A device gets only scopes that it requested.',
  test_mode_only: 'The key is of live mode, in which time, banks, card networks and payers are real.',
  access_denied:
    'A person denied or revoked the request of the device or terminal, or no longer holds any of the scopes that were asked for.',
  authorization_pending:
    'No person has decided about the device or terminal yet. A client that waits usually gets this code.',
  expired_token: 'The code of the device or terminal expired before it had a key.',
  invalid_grant:
    'The code is unknown, or its key has already been fetched. For a terminal also: the verifier does not belong to the code, or the pairing has ended.',
  slow_down:
    'The device asked again before its interval had passed. The interval then grows, up to a maximum.',
  unsupported_grant_type:
    '`grant_type` is not `urn:ietf:params:oauth:grant-type:device_code`, the only one that this operation takes.',
  // Records that are not found.
  access_event_not_found: OF_AGENT,
  account_not_found: OF_OWNER,
  agent_credential_not_found: OF_AGENT,
  alert_not_found: OF_OWNER,
  application_not_found: OF_OPERATOR,
  assistant_not_found: OF_OWNER,
  authorization_not_found: OF_AGENT,
  conversation_not_found: OF_OWNER,
  machine_payment_not_found: OF_AGENT,
  credential_not_found: OF_AGENT,
  credit_not_found: OF_OWNER,
  customer_not_found: OF_OPERATOR,
  delegation_not_found: OF_OWNER,
  deletion_not_found: OF_OWNER,
  delivery_not_found: OF_OWNER,
  dispute_not_found: OF_AGENT,
  entry_not_found: OF_OWNER,
  event_not_found: OF_AGENT,
  evidence_not_found: OF_AGENT,
  export_not_found: OF_OWNER,
  funding_not_found: OF_OWNER,
  incident_not_found: OF_OPERATOR,
  key_not_found: OF_OWNER,
  message_not_found: OF_OPERATOR,
  onboarding_not_found: OF_OWNER,
  outcome_not_found: OF_AGENT,
  parent_not_found: OF_OWNER,
  passkey_not_found: OF_OWNER,
  payment_method_not_found: OF_OWNER,
  person_not_found: OF_OWNER,
  posting_not_found: OF_OWNER,
  proposal_not_found: OF_OWNER,
  protect_rule_not_found: OF_OWNER,
  request_not_found: OF_AGENT,
  settlement_not_found: OF_AGENT,
  statement_not_found: OF_OWNER,
  submission_not_found: OF_OWNER,
  subscription_not_found: OF_OWNER,
  debit_not_found:
    'The reference is misspelt, or the file that was named has it for a credit, in another currency, or not at all.',
  merchant_not_found:
    'In this mode, nothing was paid to or refused for a merchant of this name, or only by other agents than that of the token.',
  number_not_found: 'The last four digits are those of another card, or of none.',
  recovery_not_found: 'No recovery was started for this person, or it has ended.',
  reference_not_found:
    'The reference is misspelt, or it belongs to a wallet of another owner or mode, or to one that takes no transfers.',
  representative_not_found:
    'The person was replaced when the company answered a question, or the onboarding has ended.',
  script_not_found: 'The page is of an earlier version of the service than the one that answers now.',
  session_not_found:
    'The session has ended, its cookie was deleted, or it belongs to another person, owner or mode.',
  // What was done before.
  agent_deleted: SEEN_BEFORE,
  alert_acknowledged: SEEN_BEFORE,
  already_submitted: SEEN_BEFORE,
  already_verified: SEEN_BEFORE,
  assistant_ended: SEEN_BEFORE,
  debit_not_open: SEEN_BEFORE,
  filler_key_exists: SEEN_BEFORE,
  intent_confirmed: SEEN_BEFORE,
  key_revoked: SEEN_BEFORE,
  mandate_suspended: SEEN_BEFORE,
  passkey_exists: SEEN_BEFORE,
  recall_under_way: SEEN_BEFORE,
  request_paid: SEEN_BEFORE,
  rule_exists: SEEN_BEFORE,
  session_ended: SEEN_BEFORE,
  run_not_running: 'Another request has ended it: a run ends once.',
  key_not_open: 'A key ends by a revocation, by its expiry, or once a rotation’s overlap is over.',
  code_revoked: 'The delegation was revoked after its code had been made.',
  channel_verified: SEEN_BEFORE,
  deputy_over: 'A span that is over gives no right any more, so nothing is left to end.',
  parent_over: 'A delegation ends by a revocation or at its time, and nothing begins below it afterwards.',
  refund_not_pending: 'The refund was already carried out, has failed or was cancelled.',
  refund_under_way: 'The refund had left before it was cancelled.',
  request_not_waiting: 'A person has decided, the agent has cancelled, or the request has expired.',
  // Statuses that an operation needs.
  agent_credential_not_suspended: 'It is active, is still being issued, or has ended for good.',
  agent_not_frozen: 'The agent was never frozen, is already unfrozen, or is being deleted.',
  application_not_approved: 'The application is still pending, or was rejected or revoked.',
  card_not_active:
    'The card is frozen, waits for its activation or for the processor, or has been closed or replaced.',
  card_not_frozen: 'The card is active, waits for its activation, or is closed.',
  card_not_inactive: 'The card was already activated, waits for the processor, or was closed or replaced.',
  dispute_decided: 'The network decided an earlier dispute of the payment, and takes no second one.',
  dispute_ended: 'It was won, lost or withdrawn.',
  dispute_open: 'One dispute at a time: the earlier one is not decided yet.',
  document_erased: 'Documents are kept for a bounded time, which depends on the decision.',
  intent_closed: 'The intent was paid, denied or cancelled, or its deadline has passed.',
  no_action_required: 'The funding was settled, failed, or never needed its payer.',
  not_disputable:
    'The payment is still held, was declined or has been given back, so there is nothing to dispute.',
  transfer_not_recallable:
    'The transfer was never submitted, has been returned or cancelled, or went to another wallet of the service.',
  transfer_not_submitted:
    'The transfer waits, has come back or is completed, or moves money between wallets only.',
  wallet_not_active: 'A person has frozen or closed it.',
  // Limits and amounts.
  above_intent: 'A token of an intent may pay at most the amount that was approved.',
  amount_above_held:
    'The price has risen since the intent was declared, or fees, taxes or another currency’s margin were left out.',
  amount_exceeded: 'A token is good for the amount for which it was made.',
  amount_too_high: 'A part of the payment was already refunded, or is disputed elsewhere.',
  daily_limit_exceeded: 'All transfers of the day count together, also those that are still under way.',
  intent_amount_exceeded: 'More is asked for than was approved.',
  nothing_to_refund: 'All of it was refunded, or refunds that are under way cover the rest.',
  part_of_nothing: 'The amount has fewer cents than parts, or a share of it is below a cent.',
  refund_above_payment: 'Refunds that are booked or under way count against the payment.',
  refund_above_received: 'Refunds that are booked or under way count against what was received.',
  request_other_amount: 'The request was paid in part, or its amount was copied from elsewhere.',
  token_budget_exceeded: 'Payments that are under way or done have used the rest of the budget.',
  too_many_entries: 'Each report and each decision of an incident is kept, so their number is bounded.',
  too_much_evidence: 'Evidence is kept, so its amount is bounded.',
  clock_too_far: 'Advances add up.',
  // What does not belong together.
  bic_does_not_fit: 'The fifth and sixth letter of a BIC are the country, as the first two of an IBAN are.',
  card_other_agent: 'An agent pays with its own cards only.',
  card_other_intent: 'The card was issued for one intent.',
  credit_not_in_wallet: 'The credit still waits for its assignment, or is in another wallet.',
  intent_other_agent: 'An intent is paid by the agent that declared it, and a card belongs to one agent.',
  intent_other_card: 'The intent was declared or approved for a certain card.',
  intent_other_wallet: 'The rules and the budget of an agent hold for its own wallet.',
  parent_of_other_agent: 'A delegation below another one is for the same agent.',
  subject_mismatch:
    'Each purpose has a subject of its own kind: an intent, a person, or the change that is signed.',
  // What an agent may do.
  against_policy:
    'A rule of the policy, such as a limit, a list or a time, forbids it now, also if it did not when the intent was declared.',
  attestation_required:
    'Only a passkey proves who has approved. The console always asks for one; a policy does with `requireAttestation`.',
  filler_key_required: 'With a key of its own an agent would read the card data itself.',
  merchant_denied: 'Deny rules hold above allow rules.',
  owner_needed: 'What an assistant may spend is signed for by an owner.',
  // Merchants, networks and banks.
  challenge_unusable:
    'The merchant’s challenge lacks a member, has one of another form, or contains a card number.',
  credential_malformed: 'The header was cut off, or is not the base64url of a JSON object.',
  method_not_offered: 'The credential is for a method that the challenge did not offer.',
  network_not_accepted: MERCHANTS_CHOICE,
  no_card_offer: MERCHANTS_CHOICE,
  network_tokens_missing: 'Network tokens are a service of their own, which not every processor gives.',
  payload_invalid: 'The payload belongs to another method, lacks a member, or was encrypted for another key.',
  payment_refused:
    'The acquirer or the payer’s bank did not allow it, for a reason that they do not disclose.',
  sepa_rail_missing: 'The operator of this installation has connected no bank for outgoing transfers.',
  token_unknown: 'The token was made with another account of the processor, or in its other mode.',
  database_unreachable: 'PostgreSQL is restarting, or the network to it is interrupted.',
  // Forms, dates and addresses.
  covers_later_report:
    'The stages of a report follow each other, and a later one cannot be part of an earlier one.',
  expires_in_past: OF_PAST,
  expires_too_early: `${OF_PAST} In test mode the account’s own clock counts.`,
  file_unreadable:
    'The file is not XML in a format that the operation names, was cut off, or is of another version.',
  foreign_origin:
    'A page in the browser calls `/mcp`. The check keeps other sites from using an assistant of the person.',
  invalid_date_order:
    'For example, the incident was noticed before it began, or ended before it was noticed.',
  invalid_filter: 'The address was typed or shortened, or it names a filter that this page does not have.',
  invalid_redirect_uri: 'It is neither https, nor the person’s own computer, nor the address of an app.',
  invalid_target: 'The member `resource` (RFC 8707) names another server than the person has approved.',
  redirect_unknown: 'The client has registered other addresses, or one that differs in a character.',
  no_change: 'The request asks for what the card already has.',
  not_json: 'A tool or proxy has sent another type, or none.',
  not_refundable: 'A fee is the price of a service, and a refund is itself money that came back.',
  not_unauthorized:
    'A finding is about who has authorized the payment, which other reasons leave undisputed.',
  page_for_people: 'A browser opens the address of the API.',
  page_moved: 'The link or bookmark is from an earlier version.',
  period_before_wallet: 'Statements begin with the month in which the wallet was opened.',
  period_not_begun: 'The month of the account’s clock counts, which in test mode can be moved.',
  person_under_age: 'The date is that of a minor, or was given in another order than year, month, day.',
  recall_it: 'A transfer is not refunded by its payee’s card network: its money is asked back from the bank.',
  span_invalid: 'The two dates are swapped, or one of them is of another time zone.',
  unknown_method:
    'The client speaks another version of the protocol, or offers something that this server does not have.',
}

import { policiesApi, policySimulationApi } from '../../../control/policies/index.ts'
import { peopleApi } from '../../../identity/people/index.ts'
import { MAX_APPROVAL_STEPS } from '../../../values/approval-steps.ts'
import { days } from '../../../values/clock.ts'
import { type Html, type HtmlContent, html } from '../../../web/html.ts'
import { pageScriptTag } from '../browser/browser.ts'
import type { ConsolePage, OperationAnswer, PageRequest } from '../page.ts'
import type { RecordActions } from '../parts/actions.ts'
import { type FieldChoices, type FormGroup, renderFormDialog, renderOperationForm } from '../parts/form.ts'
import { renderActorLink } from '../parts/history.ts'
import { renderRecordLink } from '../parts/links.ts'
import { readNamesInRows } from '../parts/names.ts'
import { renderBackLink, renderRecordHead } from '../parts/record-page.ts'
import { consoleSection } from '../parts/section.ts'
import { renderBox, renderTable } from '../parts/table.ts'
import { countText } from '../parts/tabs.ts'
import { countOf, formatPlainEuros, memberLabelText, renderEuros, renderText } from '../parts/text.ts'
import { isOfPolicy, renderChangeRequestsBox } from './decide/change-requests.ts'

const changes = ['policy.*']

export const limitLabels = {
  name: 'Name',
  maxTransactionEuros: 'Per payment (€)',
  dailyLimitEuros: 'Per day (€)',
  monthlyLimitEuros: 'Per month (€)',
  autoApproveLimitEuros: 'Auto-approve up to (€)',
  merchantAllowlist: 'Allowed merchants (one per line)',
  merchantBlocklist: 'Blocked merchants (one per line)',
  allowedCountries: 'Allowed countries',
  mccCategories: 'Allowed category groups',
  allowedMccs: 'Allowed categories (MCC)',
  blockedMccs: 'Blocked categories (MCC)',
  attestationWindowMinutes: 'Passkey valid for (minutes)',
  cooldownMinutes: 'Cooldown between payments (minutes)',
  activeHoursStart: 'Active from hour (UTC)',
  activeHoursEnd: 'Active until hour (UTC)',
  maxUsageCount: 'Maximum number of payments',
  amountTolerancePercent: 'Tolerance above the intent (%)',
  conversionMarginPercent: 'Margin for other currencies (%, default 3)',
  mppMethods: 'Methods of machine payments, in order',
  expiresAfterMinutes: 'Expires after (minutes)',
  expirationAction: 'On expiry',
  lockToFirstMerchant: 'Lock to the first merchant',
  requireIntent: 'Require an approved intent for card payments',
  requireAttestation: 'Require a passkey for every payment',
  approval: 'Steps of approval',
  'approval.aboveEuros': 'Above (€)',
  'approval.of': 'Who is asked',
  'approval.need': 'How many of them',
  'approval.withinMinutes': 'Within (minutes)',
  'approval.then': 'If too few approve',
}

export const limitsGroup: FormGroup = {
  legend: 'Limits',
  members: ['maxTransactionEuros', 'dailyLimitEuros', 'monthlyLimitEuros'],
  says: {
    start: 'Up to ',
    parts: [
      '{maxTransactionEuros} per payment',
      '{dailyLimitEuros} a day',
      '{monthlyLimitEuros} a month',
      '{maxUsageCount payment} in all',
    ],
    otherwise: 'No limit',
  },
}

export const approvalGroup: FormGroup = {
  legend: 'Approval',
  members: ['autoApproveLimitEuros'],
  says: {
    parts: [
      [
        'a passkey is needed for every payment{?requireAttestation}',
        'payments up to {autoApproveLimitEuros} that no step asks for are approved automatically{?approval}',
        'payments up to {autoApproveLimitEuros} are approved automatically',
        'every payment needs approval',
      ],
      'cards pay only on approved intents{?requireIntent}',
    ],
  },
}

export const stepsGroup: FormGroup = {
  legend: 'Steps of approval',
  members: [],
  items: {
    member: 'approval',
    name: 'Step',
    most: MAX_APPROVAL_STEPS,
    fields: ['aboveEuros', 'of', 'need', 'withinMinutes', 'then'],
    blank: { of: 'approvers', need: 2, withinMinutes: 1_440, then: 'deny' },
  },
  says: { parts: ['{approval}'], otherwise: 'One person approves' },
}

const ruleGroups: readonly FormGroup[] = [
  { ...limitsGroup, folded: ['maxUsageCount', 'amountTolerancePercent'] },
  {
    legend: 'Merchants',
    members: ['merchantAllowlist', 'merchantBlocklist'],
    folded: ['allowedCountries', 'mccCategories', 'allowedMccs', 'blockedMccs', 'lockToFirstMerchant'],
    says: {
      parts: [
        'only {merchantAllowlist}',
        'never {merchantBlocklist}',
        'only in {allowedCountries}',
        [
          'only for {mccCategories} or category {allowedMccs}',
          'only for {mccCategories}',
          'only category {allowedMccs}',
        ],
        'not category {blockedMccs}',
        'only the first merchant paid{?lockToFirstMerchant}',
      ],
      otherwise: 'Any merchant',
    },
  },
  {
    legend: 'Time',
    members: ['activeHoursStart', 'activeHoursEnd', 'cooldownMinutes'],
    folded: ['expiresAfterMinutes', 'expirationAction'],
    says: {
      parts: [
        'from {activeHoursStart}:00 UTC',
        'until {activeHoursEnd}:00 UTC',
        '{cooldownMinutes} min between payments',
        'expires after {expiresAfterMinutes} min, then {expirationAction}',
      ],
      otherwise: 'At any time',
    },
  },
  {
    ...approvalGroup,
    members: ['autoApproveLimitEuros', 'requireIntent'],
    folded: ['requireAttestation', 'attestationWindowMinutes'],
  },
  stepsGroup,
  {
    legend: 'Other currencies',
    members: ['conversionMarginPercent'],
    folded: ['mppMethods'],
    says: {
      start: 'Prices in other currencies count at the rate of the day plus ',
      parts: ['{conversionMarginPercent} %'],
      otherwise: 'Prices in other currencies count at the rate of the day plus 3 %',
    },
  },
]

interface Copies {
  readonly counts: ReadonlyMap<string, number>
  /** Only the newest copies were counted. */
  readonly isMinimum: boolean
}

const copies = new WeakMap<PageRequest, Copies>()

async function readCopies(_: unknown, request: PageRequest): Promise<void> {
  const { data, hasMore } = await request.ask(policiesApi.list, { query: { kind: 'agent', limit: 100 } })
  const counts = new Map<string, number>()
  for (const { templateId } of data) if (templateId) counts.set(templateId, (counts.get(templateId) ?? 0) + 1)
  copies.set(request, { counts, isMinimum: hasMore })
}

function usersOf({ id }: { readonly id: string }, request: PageRequest): string {
  const { counts, isMinimum = false } = copies.get(request) ?? {}
  const count = counts?.get(id) ?? 0
  return isMinimum ? `${countText(count, true)} agents` : countOf(count, 'agent')
}

export const policiesSection = consoleSection({
  kind: 'Limit template',
  lead: 'Limits for agents, called policies in the API. Each agent has its own copy; applying a template updates the copies made from it.',
  list: policiesApi.list,
  columns: [
    'maxTransactionEuros',
    'dailyLimitEuros',
    'monthlyLimitEuros',
    'autoApproveLimitEuros',
    { 'Used by': usersOf },
  ],
  name: ({ name }) => name,
  only: { kind: 'template' },
  filters: [],
  reads: readCopies,
  events: changes,
  empty: 'No limit templates yet. Start with a preset.',
  guide: 'approvals',
  call: 'agentpay policies presets',
  create: {
    operation: policiesApi.create,
    members: ['name'],
    groups: [limitsGroup, approvalGroup, stepsGroup],
    offers: readStepChoices,
    labels: limitLabels,
    submit: 'New limit template',
  },
  buttons: ({ to }) => html`<a class="button" href="${to('console/presets')}">Presets</a>`,
})

export const policyPresetsSection = consoleSection({
  kind: 'Preset',
  lead: 'Ready-made limits. Assign one to an agent as it is, or start from it.',
  list: policiesApi.presets,
  columns: [{ Preset: ({ id }) => html`<code>${id}</code>` }, 'name', 'summary'],
  events: [],
})

export const policyPage: ConsolePage = async request => {
  const { ask, id, part } = request
  const params = { id }
  const policy = await ask(policiesApi.get, { params })
  await readNamesInRows([policy], request)
  return {
    title: policy.name,
    content: html`${renderBackLink(request, 'policies', 'Limit templates')}
${await part({
  id: 'policy',
  events: changes,
  about: id,
  make: () => html`${renderRecordHead({ name: renderText(policy.name, 80), kind: policy.agentId ? 'Limits of an agent' : 'Limit template', operation: policiesApi.get, command: 'policies get', actions: templateActions(policy, request) }, request)}
<p class="lead">${
    policy.agentId
      ? html`Agent: ${renderRecordLink(request, policy.agentId)}${policy.templateId !== null && html`, from ${renderRecordLink(request, policy.templateId)}`}${policy.overrides.length > 0 && `. Changed for this agent: ${policy.overrides.map(memberLabelText).join(', ')}`}`
      : 'A template. Agents keep their copies until you apply it.'
  }</p>`,
})}
${await part({ id: 'waiting-changes', events: changes, about: `${id} ${policy.agentId ?? ''}`.trim(), make: () => renderChangeRequestsBox(isOfPolicy(policy), request) })}
${renderBox('Rules', await rulesOf(policy, request), simulation(request))}
${await backtestPart(request)}
${await part({ id: 'probe', events: changes, about: id, make: () => probeOf(request) })}
${await part({ id: 'versions', events: changes, about: id, make: () => versionsOf(request) })}`,
  }
}

function templateActions(
  { id, name, agentId }: OperationAnswer<typeof policiesApi.get>,
  request: PageRequest,
): RecordActions {
  const params = { id }
  if (agentId !== null) return { beside: [], inMenu: [] }
  const apply = renderOperationForm(request, policiesApi.apply, {
    params,
    submit: 'Apply to agents',
    confirm: 'Replace the rules of every agent with this template by its present rules?',
    success: 'Applied.',
  })
  const remove = {
    params,
    submit: 'Delete',
    tone: 'against',
    confirm: `Delete ${name}? Agents keep their copies.`,
    done: 'go:console/policies',
  } as const
  const inMenu = request.may(policiesApi.delete) ? [renderFormDialog(policiesApi.delete, remove)] : []
  return { beside: [apply], inMenu }
}

const RULES_FORM = 'rules'

const endsOfStep: FieldChoices = [
  ['deny', 'Deny'],
  ['next', 'Ask the next step as well'],
]

/** People who may approve, and what follows a step. */
async function readStepChoices({ may, ask }: PageRequest): Promise<Readonly<Record<string, FieldChoices>>> {
  const { data } = may(peopleApi.list)
    ? await ask(peopleApi.list, { query: { status: 'active', limit: 100 } })
    : { data: [] }
  const approvers = data.filter(({ role }) => role !== 'viewer')
  return { 'approval.of': approvers.map(({ id, name }) => [id, name]), 'approval.then': endsOfStep }
}

async function rulesOf(
  policy: { readonly id: string; readonly version: number },
  request: PageRequest,
): Promise<HtmlContent> {
  const options = {
    id: RULES_FORM,
    params: { id: policy.id },
    members: ['name'],
    groups: ruleGroups,
    values: { ...policy },
    given: { version: policy.version },
    labels: limitLabels,
    choices: await readStepChoices(request),
    submit: 'Save',
    success: 'Saved.',
    tone: 'main',
  } as const
  return renderOperationForm(request, policiesApi.replace, options)
}

const simulation = (request: PageRequest): Html => html`<h3>Try a payment</h3>
${pageScriptTag(request, 'policyForm')}
<form class="fields" method="dialog" data-simulate data-rules="${RULES_FORM}">
<p class="field"><label for="try-amount">Amount in euros</label><input id="try-amount" name="amountEuros" type="number" step="0.01" min="0.01"></p>
<p class="field"><label for="try-merchant">Merchant</label><input id="try-merchant" name="merchant" maxlength="200" value="shop.example"></p>
<p class="field"><label for="try-country">Country</label><input id="try-country" name="country" maxlength="2"></p>
<p class="field"><label for="try-mcc">Category (MCC)</label><input id="try-mcc" name="mcc" maxlength="4"></p>
<div data-result aria-live="polite"></div>
</form>`

async function probeOf({ ask, id }: PageRequest): Promise<Html> {
  const { rules, warnings } = await ask(policySimulationApi.probe, { params: { id } })
  return html`${warnings.length > 0 && renderBox('Conflicting rules', html`<ul>${warnings.map(({ message }) => html`<li>${message}</li>`)}</ul>`)}
<details class="fold"><summary>Rule thresholds</summary>
<ul>${rules.map(({ rule, stops, passes }) => html`<li><strong>${memberLabelText(rule)}</strong>: ${stops ? `stops ${formatPlainEuros(stops.situation.amountEuros)} (${stops.message})` : 'stops nothing'}; ${passes ? `lets ${formatPlainEuros(passes.situation.amountEuros)} through` : 'lets nothing through'}</li>`)}</ul></details>`
}

async function versionsOf(request: PageRequest): Promise<Html> {
  const { data } = await request.ask(policiesApi.versions, {
    params: { id: request.id },
    query: { limit: 20 },
  })
  await readNamesInRows(data, request)
  return renderBox(
    'Versions',
    renderTable(request, 'Versions of the policy', data, {
      Version: 'version',
      Changes: ({ changes }) =>
        changes.length === 0
          ? 'First version'
          : html`<ul>${changes.map(change => html`<li>${renderText(change.text, 300)}</li>`)}</ul>`,
      'Changed by': ({ changedByType, changedById }, request) =>
        renderActorLink({ actorType: changedByType, actorId: changedById, personId: null }, request),
      Date: 'createdAt',
    }),
  )
}

const DAYS = 30

const backtestPart = async (
  request: PageRequest,
): Promise<Html> => html`<form data-part="backtest"><input type="hidden" name="backtest" value="run"><button type="submit">Replay the last ${DAYS} days</button></form>
${await request.part({ id: 'backtest', events: [], make: () => (request.query.backtest === 'run' ? replay(request) : html``) })}`

interface Sum {
  readonly count: number
  readonly amountEuros: number
}

const sum = ({ count, amountEuros }: Sum): Html => html`${count} · ${renderEuros(amountEuros)}`

async function replay(request: PageRequest): Promise<Html> {
  const { ask, id, now } = request
  const body = { from: new Date(now.getTime() - days(DAYS)).toISOString(), to: now.toISOString() }
  const result = await ask(policySimulationApi.backtest, { params: { id }, body })
  const kinds = [
    ['Unchanged', result.same],
    ['Newly denied', result.newlyDenied],
    ['Newly allowed', result.newlyAllowed],
    ['Newly require approval', result.newlyToPerson],
    ['Decided by a person', result.decidedBefore],
  ] as const
  return renderBox(
    `The last ${DAYS} days under this policy`,
    renderTable(request, 'Replayed decisions', kinds, {
      Decisions: ([kind]) => kind,
      'Count and amount': { figure: ([, figures]) => sum(figures) },
    }),
    result.byRule.length > 0 &&
      renderTable(request, 'Differences by rule', result.byRule, {
        Rule: ({ rule }) => memberLabelText(rule),
        Denied: { figure: ({ newlyDenied }) => sum(newlyDenied) },
        Allowed: { figure: ({ newlyAllowed }) => sum(newlyAllowed) },
        'Require approval': { figure: ({ newlyToPerson }) => sum(newlyToPerson) },
      }),
    result.examples.length > 0 &&
      renderTable(request, 'Examples of differences', result.examples.slice(0, 20), {
        Date: 'at',
        Payment: ({ subjectId, merchant }) => renderRecordLink(request, subjectId, renderText(merchant, 60)),
        Amount: 'amountEuros',
        Before: 'was',
        Now: ({ now: would, reason }) => html`${would}: ${renderText(reason, 200)}`,
      }),
  )
}

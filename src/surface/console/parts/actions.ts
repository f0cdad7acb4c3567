import type { AnyOperation } from '../../../kernel/contract/operation.ts'
import type { Row } from '../../../values/members.ts'
import { type Html, type HtmlContent, html } from '../../../web/html.ts'
import type { PageRequest } from '../page.ts'
import {
  type FieldChoices,
  type FormDialog,
  type FormOptions,
  renderFormDialog,
  renderOperationForm,
} from './form.ts'
import { fieldChoicesFor } from './names.ts'
import { formFieldNames, pathParametersOf, requiredMembers, secretMembers } from './schema.ts'
import { memberLabelText } from './text.ts'

type FormDifference = Partial<Omit<FormOptions<AnyOperation>, 'params'>>

interface Offers {
  readonly offers?: (request: PageRequest) => Promise<Readonly<Record<string, FieldChoices>>>
}

/** A form that creates a record from the members of the body. It shows secrets of the answer once. */
export interface CreationFormSpec extends FormDifference, Offers {
  readonly operation: AnyOperation
}

export interface ActionFormSpec<R> extends FormDifference, Offers {
  readonly operation: AnyOperation
  /** Whether the action is available in the record's state. Default: always. */
  readonly when?: (record: R, request: PageRequest) => boolean
  readonly forRecord?: (record: R) => FormDifference
  readonly params?: (record: R) => Readonly<Record<string, string>>
  /** Whether rows of the list have the action, too. A record without a page has all actions in its row. */
  readonly inRow?: true
  /** An action that is rarely needed: the menu beside the title has it, as it has what deletes the record. */
  readonly inMenu?: true
}

type Labels = Readonly<Record<string, string>>

export async function renderCreationForm(
  { operation, offers, ...stated }: CreationFormSpec,
  defaults: FormDifference,
  request: PageRequest,
): Promise<Html> {
  if (!request.may(operation)) return html``
  const { labels, choices, ...others } = { ...defaults, ...stated }
  const members = stated.members ?? formFieldNames(operation)
  return renderOperationForm(request, operation, {
    submit: memberLabelText(lastOf(operation)),
    secrets: secretMembers(operation),
    inDialog: members.length > 0,
    ...others,
    members,
    labels: { ...defaults.labels, ...labels },
    choices: { ...(await fieldChoicesFor(members, request)), ...(await offers?.(request)), ...choices },
  })
}

/** Beside the title of a record stand a few actions; its menu has the others. */
const MOST_BESIDE_TITLE = 3

export interface RecordActions {
  readonly beside: readonly Html[]
  readonly inMenu: readonly FormDialog[]
}

export async function renderRecordActions(
  actions: readonly ActionFormSpec<Row>[],
  record: Row,
  labels: Labels,
  request: PageRequest,
): Promise<RecordActions> {
  const open = actions.filter(
    ({ operation, when }) => request.may(operation) && (when?.(record, request) ?? true),
  )
  const offered = await Promise.all([
    fieldChoicesFor(open.flatMap(membersOf), request),
    ...open.map(({ offers }) => offers?.(request)),
  ])
  const choices: Record<string, FieldChoices> = Object.assign({}, ...offered)
  const optionsFor = (action: ActionFormSpec<Row>) =>
    optionsOf(action, record, { labels, choices, variant: String(actions.indexOf(action)) })
  const { beside = [], inMenu = [] } = Object.groupBy(open, action =>
    action.inMenu || (action.operation.method === 'DELETE' && !action.submit) ? 'inMenu' : 'beside',
  )
  return {
    beside: beside
      .slice(0, MOST_BESIDE_TITLE)
      .map(action => renderOperationForm(request, action.operation, optionsFor(action))),
    inMenu: [...beside.slice(MOST_BESIDE_TITLE), ...inMenu].map(action =>
      renderFormDialog(action.operation, optionsFor(action)),
    ),
  }
}

export const renderActionButton = (
  action: ActionFormSpec<Row>,
  record: Row,
  labels: Labels,
  request: PageRequest,
): HtmlContent =>
  (action.when?.(record, request) ?? true) &&
  renderOperationForm(request, action.operation, optionsOf(action, record, { labels }))

const membersOf = ({
  operation,
  members,
}: Pick<ActionFormSpec<Row>, 'operation' | 'members'>): readonly string[] =>
  members ?? formFieldNames(operation)

function optionsOf(
  {
    operation,
    forRecord,
    params,
    when: _when,
    inRow: _inRow,
    inMenu: _inMenu,
    offers: _offers,
    ...stated
  }: ActionFormSpec<Row>,
  record: Row,
  around: FormDifference,
): FormOptions<AnyOperation> {
  const own = { ...stated, ...forRecord?.(record) }
  const members = own.members ?? formFieldNames(operation).filter(name => own.given?.[name] === undefined)
  const changes = operation.method === 'PATCH' || operation.method === 'PUT'
  return {
    submit: changes ? 'Change' : memberLabelText(lastOf(operation)),
    secrets: secretMembers(operation),
    inDialog: members.length > 0,
    ...around,
    ...(operation.method === 'DELETE' && { submit: 'Delete', tone: 'against' as const }),
    ...(changes && { values: record }),
    ...own,
    members,
    params:
      params?.(record) ??
      Object.fromEntries(pathParametersOf(operation).map(name => [name, String(record.id)])),
    labels: { ...around.labels, ...own.labels },
    choices: { ...around.choices, ...own.choices },
  }
}

const lastOf = ({ path }: AnyOperation): string => path.split('/').at(-1)?.replaceAll('-', ' ') ?? ''

export function agentpayCommandText(noun: string, { example = {}, ...operation }: AnyOperation): string {
  const required = requiredMembers(operation as AnyOperation)
  const options = Object.entries(example as object).filter(([name]) => required.includes(name))
  const flags = options.map(([name, value]) => `--${dashed(name)} ${argumentOf(value)}`)
  return ['agentpay', noun, 'create', ...flags].join(' ')
}

const dashed = (name: string): string => name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)

/** Leaves ids open, since those of the example do not exist. */
function argumentOf(value: unknown): string {
  const said =
    typeof value === 'string' ? value.replace(/^([a-z_]+_)[0-9a-z]{26}$/, '$1…') : JSON.stringify(value)
  return /^[\w.:/@-]+…?$/.test(said) ? said : `"${said.replaceAll('"', '\\"')}"`
}

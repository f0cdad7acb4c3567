import { bySeveral } from '../../../identity/approvals/index.ts'
import type { PathParameterName } from '../../../kernel/contract/addresses.ts'
import type { AnyOperation } from '../../../kernel/contract/operation.ts'
import { type SignatureRequirement, signatureRequirement } from '../../../kernel/contract/tool.ts'
import { findUploads, type UploadRule } from '../../../kernel/contract/upload.ts'
import { type Html, type HtmlContent, html } from '../../../web/html.ts'
import type { PageRequest } from '../page.ts'
import { type SentenceSpec, sentence } from '../scripts/sentence.js'
import { blankValues, type FormItems, nameWithoutPlaces, renderItems } from './form-items.ts'
import { bodyMemberSchema, type MemberSchema } from './schema.ts'
import { memberLabelText, valueText } from './text.ts'

export type FieldChoices = readonly (readonly [value: string, name: string])[]

export interface FormOptions<O extends AnyOperation> {
  readonly params?: Readonly<Record<PathParameterName<O['path']>, string>>
  readonly id?: string
  /** The members of the body that have a field. Dots address nested members. */
  readonly members?: readonly string[]
  readonly given?: Readonly<Record<string, unknown>>
  readonly values?: Readonly<Record<string, unknown>>
  readonly labels?: Readonly<Record<string, string>>
  readonly choices?: Readonly<Record<string, FieldChoices>>
  readonly variant?: string
  readonly submit: string
  readonly confirm?: string
  /** The signature and members to sign, if the passkey signs another operation than the form's. */
  readonly signs?: {
    readonly signature: SignatureRequirement
    readonly members: Readonly<Record<string, unknown>>
  }
  readonly secrets?: readonly string[]
  readonly success?: string
  /** The message for an answer with one of these statuses. `{approval.given}` is a member of a member. */
  readonly successByStatus?: Readonly<Record<string, string>>
  /** Replaces the message if the operation has more to do. The next press continues. */
  readonly more?: string
  /** A second call. `"$id"` in its body is a member of the first answer. */
  readonly next?: {
    readonly operation: AnyOperation
    readonly params: Readonly<Record<string, string>>
    readonly body: Readonly<Record<string, unknown>>
  }
  /** The next step in the browser: `reload`, `part:<id>`, `go:<address>`. */
  readonly done?: string
  readonly tone?: 'main' | 'against'
  /** Members in groups, after those of `members`. */
  readonly groups?: readonly FormGroup[]
  /** A button opens the form as a dialog. */
  readonly inDialog?: boolean
}

/** A button, and the dialog that it opens. A menu holds only the button: a closed menu hides all that it contains. */
export interface FormDialog {
  readonly button: Html
  readonly dialog: Html
}

/** Fields of one purpose, and the sentence that reads them back. Rarely used ones are folded. */
export interface FormGroup {
  readonly legend: string
  readonly members: readonly string[]
  readonly folded?: readonly string[]
  readonly items?: FormItems
  readonly says?: SentenceSpec
}

/**
 * A form, or a single button, that calls an operation from the browser; empty if the person may not call it.
 * The contract defines its fields. Its method keeps the browser from submitting the form itself, which would
 * put the input into an address.
 */
export function renderOperationForm<const O extends AnyOperation>(
  { may }: Pick<PageRequest, 'may'>,
  operation: O,
  options: FormOptions<O>,
): Html {
  if (!may(operation)) return html``
  if (!options.inDialog) return formOf(operation, options, submitButton(options))
  const { button, dialog } = renderFormDialog(operation, options)
  return html`${button}${dialog}`
}

/** The question of a form in a dialog is asked there, so that nothing asks it again. */
export function renderFormDialog<const O extends AnyOperation>(
  operation: O,
  { confirm, ...options }: FormOptions<O>,
): FormDialog {
  const { submit, tone } = options
  const id = formDialogId(operation, options)
  const hasFields = (options.members ?? []).length > 0 || (options.groups ?? []).length > 0
  const buttons = html`<div class="buttons"><button type="button" command="close" commandfor="${id}"${!hasFields && html` autofocus`}>Cancel</button>${submitButton({ submit, tone: tone ?? 'main' })}</div>`
  return {
    button: html`<button type="button"${tone && html` class="${tone}"`} command="show-modal" commandfor="${id}">${submit}</button>`,
    dialog: html`<dialog class="form" id="${id}" closedby="any" aria-labelledby="${id}-title"><h2 id="${id}-title">${submit}</h2>
${confirm !== undefined && html`<p>${confirm}</p>`}${formOf(operation, options, buttons)}</dialog>`,
  }
}

const submitButton = ({ submit, tone }: Pick<FormOptions<AnyOperation>, 'submit' | 'tone'>): Html =>
  html`<button type="submit"${tone && html` class="${tone}"`}>${submit}</button>`

interface FormIdentity {
  readonly params?: Readonly<Record<string, string>>
  readonly variant?: string
}

/** A page with another button for the same form names its dialog. */
export const formDialogId = (operation: AnyOperation, identity: FormIdentity): string =>
  `${formIdOf(operation, identity)}-dialog`

const formIdOf = ({ method, path }: AnyOperation, { params = {}, variant = '' }: FormIdentity): string =>
  [method, path, ...Object.values(params), variant].join('-').replace(/[^\w-]+/g, '-')

function formOf<const O extends AnyOperation>(operation: O, options: FormOptions<O>, buttons: Html): Html {
  const { id, members = [], groups = [] } = options
  const formId = formIdOf(operation, options)
  const uploads = findUploads(operation.body)
  const blanks = groups.flatMap(({ items }) => (items ? [blankValues(items)] : []))
  const withBlanks = { ...options, values: Object.assign({}, ...blanks, options.values) }
  const field = (member: string): Html => {
    const fieldId = `${formId}-${member}`
    const upload = uploads.get(member)
    return upload
      ? renderFileField(fieldId, member, upload, options)
      : renderField(fieldId, member, bodyMemberSchema(operation, member), withBlanks)
  }
  return html`<form class="operation" method="dialog"${id !== undefined && html` id="${id}"`}${dataOf(operation, options)}>
${members.map(field)}
${groups.map(group => renderGroup(group, field, options))}
${buttons}
<p class="refusal" role="alert"></p>
</form>`
}

function renderGroup(
  { legend, members, folded = [], items, says }: FormGroup,
  field: (member: string) => Html,
  { values = {} }: Pick<FormOptions<AnyOperation>, 'values'>,
): Html {
  const isOpen = folded.some(name => isSet(values[name]))
  return html`<fieldset class="group"><legend>${legend}</legend>
${says && html`<p class="says" aria-live="polite" data-sentence="${JSON.stringify(says)}">${sentence(says, values)}</p>`}
${members.map(field)}
${items && renderItems(items, values[items.member], field)}
${folded.length > 0 && html`<details class="more"${isOpen && html` open`}><summary>Advanced</summary>${folded.map(field)}</details>`}
</fieldset>`
}

const isSet = (value: unknown): boolean =>
  Array.isArray(value) ? value.length > 0 : value !== null && value !== undefined && value !== false

/** What a form says whose change several people approve first. */
const PROPOSED =
  'Proposed: {approval.given} of {approval.needed} approvals. It takes effect with the last one.'

function dataOf(operation: AnyOperation, options: FormOptions<AnyOperation>): Html {
  const {
    params = {},
    given = {},
    done = 'reload',
    confirm,
    success,
    successByStatus = operation.accepted === bySeveral.accepted ? { waiting: PROPOSED } : {},
    more,
    next,
  } = options
  const { signature, members } = options.signs ?? { signature: signatureRequirement(operation.signature) }
  const attributes = {
    operation: `${operation.method} ${operation.path}`,
    params: JSON.stringify(params),
    given: JSON.stringify(given),
    done,
    confirm,
    success,
    ...Object.fromEntries(
      Object.entries(successByStatus).map(([status, text]) => [`success-${status}`, text]),
    ),
    more,
    secret: options.secrets?.join(' '),
    next: next && JSON.stringify([`${next.operation.method} ${next.operation.path}`, next.params, next.body]),
    challenge: signature && `POST ${signature.challenge}`,
    'challenge-body': signature?.asks && JSON.stringify(signature.asks),
    'challenge-of': members && JSON.stringify(members),
    passkey: signature && !signature.always ? 'when-asked' : undefined,
  }
  return html`${Object.entries(attributes).map(([name, value]) => value !== undefined && html` data-${name}="${value}"`)}`
}

type FieldOptions = Pick<FormOptions<AnyOperation>, 'values' | 'labels' | 'choices'>

const renderFileField = (
  id: string,
  name: string,
  { kinds }: UploadRule,
  { labels = {} }: FieldOptions,
): Html =>
  html`<p class="field"><label for="${id}">${labels[name] ?? memberLabelText(name)}</label><input id="${id}" type="file" name="${name}" accept="${kinds.join(',')}"></p>`

/** A field for a member. `id` is unique on the page, and stays the same whenever the form is rendered again. */
export function renderField(
  id: string,
  name: string,
  schema: MemberSchema,
  { values = {}, labels = {}, choices = {} }: FieldOptions,
): Html {
  const value = valueAt(values, name) ?? schema.default
  const shown = labels[name] ?? labels[nameWithoutPlaces(name)] ?? memberLabelText(name)
  const offered = choices[name] ?? choices[nameWithoutPlaces(name)]
  if (schema.type === 'boolean')
    return html`<p class="field check"><input id="${id}" type="checkbox" name="${name}"${value === true && html` checked`}><label for="${id}">${shown}</label></p>`
  const members = schema.items?.enum
  if (schema.type === 'array' && members)
    return set(id, name, { ...schema, items: { enum: members } }, value, shown)
  const groups = schema.anyOf?.find(one => one.enum)?.enum
  if (groups && schema.anyOf?.some(({ type }) => type === 'array'))
    return oneOrSome(id, name, { groups, some: offered ?? [] }, value, shown)
  return html`<p class="field"><label for="${id}">${shown}</label>${control(id, name, schema, value, offered)}</p>`
}

/** Members by their names, and those of members also by a name with dots. */
const valueAt = (values: Readonly<Record<string, unknown>>, name: string): unknown =>
  name
    .split('.')
    .reduce<unknown>((at, step) => (at as Record<string, unknown> | null | undefined)?.[step], values) ??
  values[name]

/** The pattern of a month in the contracts. */
const MONTH = '^\\d{4}-(0[1-9]|1[0-2])$'

function control(
  id: string,
  name: string,
  schema: MemberSchema,
  value: unknown,
  choices: FieldChoices | undefined = schema.enum?.map(one => [one, valueText(one)] as const),
): Html {
  const empty = emptyOf(schema)
  const given = value === null || value === undefined ? '' : String(value)
  if (choices) return html`<select id="${id}" name="${name}"${empty}>${options(choices, given)}</select>`
  if (schema.type === 'array')
    return html`<textarea id="${id}" name="${name}" rows="3" data-type="list"${empty}>${listOf(value)}</textarea>`
  if (schema.type === 'number' || schema.type === 'integer')
    return html`<input id="${id}" type="number" name="${name}" value="${given}" step="${schema.type === 'integer' ? 1 : 0.01}" inputmode="decimal"${empty}>`
  if (schema.format === 'date-time')
    return html`<input id="${id}" type="datetime-local" name="${name}" data-instant="${given}"${empty}>`
  if (schema.format === 'date')
    return html`<input id="${id}" type="date" name="${name}" value="${given}"${empty}>`
  if (schema.pattern === MONTH)
    return html`<input id="${id}" type="month" name="${name}" value="${given}" placeholder="YYYY-MM"${empty}>`
  if ((schema.maxLength ?? 0) > 300)
    return html`<textarea id="${id}" name="${name}" rows="2" maxlength="${schema.maxLength ?? ''}"${empty}>${given}</textarea>`
  return html`<input id="${id}" name="${name}" value="${given}" maxlength="${schema.maxLength ?? 400}" autocomplete="off"${empty}>`
}

const FEW = 12

/** Checkboxes for an enumeration. Without a tick, the body omits the member. */
function set(id: string, name: string, schema: MemberSchema, value: unknown, shown: string): Html {
  const ticked: readonly unknown[] = Array.isArray(value) ? value : []
  const members = schema.items?.enum ?? []
  const boxes = html`<div class="ticks">${members.map(
    one =>
      html`<span class="check"><input id="${id}-${one}" type="checkbox" name="${name}" value="${one}" data-type="list"${emptyOf(schema)}${ticked.includes(one) && html` checked`}><label for="${id}-${one}">${valueText(one)}</label></span>`,
  )}</div>`
  const folded = html`<details class="more"${ticked.length > 0 && html` open`}><summary>Choose from ${members.length}</summary>${boxes}</details>`
  return html`<fieldset class="field"><legend>${shown}</legend>${members.length > FEW ? folded : boxes}</fieldset>`
}

interface OneOrSome {
  readonly groups: readonly string[]
  readonly some: FieldChoices
}

/** A choice of one group, or else a list of single ones, which the script sends where no group is chosen. */
function oneOrSome(
  id: string,
  name: string,
  { groups, some }: OneOrSome,
  value: unknown,
  shown: string,
): Html {
  const ticked: readonly string[] = Array.isArray(value) ? value : []
  const unknown = ticked.filter(one => !some.some(([known]) => known === one))
  const boxes = [...some, ...unknown.map(one => [one, one] as const)]
  const names = groups.map(one => [one, valueText(one)] as const)
  return html`<fieldset class="field one-or-some"><legend>${shown}</legend><select id="${id}" name="${name}" aria-label="${shown}">${options(names, ticked.length > 0 ? '' : String(value ?? ''), 'Only these:')}</select>
<div class="ticks">${boxes.map(
    ([one, label]) =>
      html`<span class="check"><input id="${id}-${one}" type="checkbox" name="${name}" value="${one}" data-type="list"${ticked.includes(one) && html` checked`}><label for="${id}-${one}">${label}</label></span>`,
  )}</div></fieldset>`
}

const emptyOf = ({ isNullable, whole }: MemberSchema): HtmlContent =>
  html`${isNullable === true && html` data-empty="null"`}${whole !== undefined && html` data-whole="${whole}"`}`

const listOf = (value: unknown): HtmlContent => (Array.isArray(value) ? value.join('\n') : '')

const options = (choices: FieldChoices, chosen: string, none = '–'): Html[] =>
  [['', none] as const, ...choices].map(
    ([value, name]) => html`<option value="${value}"${value === chosen && html` selected`}>${name}</option>`,
  )

import { type Html, html } from '../../../web/html.ts'

/** A list of objects: fields for each of them, in their order. */
export interface FormItems {
  /** The member that has the list. */
  readonly member: string
  /** Each has this name and its number. */
  readonly name: string
  readonly most: number
  readonly fields: readonly string[]
  /** What the fields of a new one begin with. */
  readonly blank: Readonly<Record<string, unknown>>
}

const places = ({ most }: FormItems): number[] => Array.from({ length: most }, (_, place) => place)

/** The values of those that the list does not have yet, by the names of their fields. */
export const blankValues = (items: FormItems): Record<string, unknown> =>
  Object.fromEntries(
    places(items).flatMap(place =>
      Object.entries(items.blank).map(([name, value]) => [`${items.member}.${place}.${name}`, value]),
    ),
  )

/** `approval.0.of` is labelled as `approval.of`. */
export const nameWithoutPlaces = (name: string): string => name.replace(/\.\d+(?=\.)/g, '')

/** The page has as many as there can be. Those beyond the list are hidden and send nothing, until a person adds them. */
export function renderItems(items: FormItems, list: unknown, field: (member: string) => Html): Html {
  const count = Array.isArray(list) ? list.length : 0
  const { member, name, most, fields } = items
  const itemAt = (
    place: number,
  ): Html => html`<fieldset class="item"${place >= count && html` hidden disabled`}><legend>${name} ${place + 1}</legend>
${fields.map(one => field(`${member}.${place}.${one}`))}
<button type="button" class="small" data-remove-item>Remove</button></fieldset>`
  return html`<div data-items>${places(items).map(itemAt)}
<button type="button" data-add-item${count >= most && html` hidden`}>Add ${name.toLowerCase()}</button></div>`
}

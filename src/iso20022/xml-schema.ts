import type { XmlElement } from './xml-reader.ts'

export type XmlContentModel = RegExp | readonly Part[]

type Attributes = Readonly<Record<string, RegExp>>

interface Part {
  readonly name: string
  readonly least: number
  readonly most: number
  readonly shape: XmlContentModel
  readonly attributes: Attributes
}

const part =
  (least: number, most: number) =>
  (name: string, shape: XmlContentModel, attributes: Attributes = {}): Part => ({
    name,
    least,
    most,
    shape,
    attributes,
  })

export const requiredElement = part(1, 1)
export const optionalElement = part(0, 1)
export const oneOrMore = part(1, Number.POSITIVE_INFINITY)
export const zeroOrMore = part(0, Number.POSITIVE_INFINITY)

export function schemaViolation(element: XmlElement, expected: Part): string | undefined {
  const { name, attributes, shape } = expected
  const within = (why: string): string => `${name}/${why}`
  for (const [key, form] of Object.entries(attributes))
    if (!form.test(element.attributes.get(key) ?? '')) return within(`@${key} is not right`)
  if (element.attributes.size > Object.keys(attributes).length) return `${name} has an unexpected attribute`
  if (shape instanceof RegExp) return textProblem(element, shape)
  return element.text.trim() === ''
    ? orderProblem(element, shape)?.replace(/^/, `${name}/`)
    : `${name} has text`
}

function textProblem({ name, children, text }: XmlElement, form: RegExp): string | undefined {
  if (children.length > 0) return `${name} has elements in it`
  return form.test(text) ? undefined : `${name} is not right: ${text}`
}

function orderProblem({ children }: XmlElement, parts: readonly Part[]): string | undefined {
  let next = 0
  for (const expected of parts) {
    const from = next
    while (children[next]?.name === expected.name && next - from < expected.most) next++
    if (next - from < expected.least) return `${expected.name} is missing`
    for (const child of children.slice(from, next)) {
      const problem = schemaViolation(child, expected)
      if (problem) return problem
    }
  }
  const stray = children[next]
  return stray && `${stray.name} is not allowed there`
}

import { describe, expect, test } from '@jest/globals'
import {
  isAsExpression,
  isIdentifier,
  isPropertyAssignment,
  isTypeAssertion,
  isVariableDeclaration,
  type Node,
} from 'typescript/unstable/ast'
import { allNodes, lineOf, readSources, type Source } from '../support/tidy/sources.ts'

/** Where code names amounts as JSON does, each with its reason. */
const EDGE: readonly (readonly [place: RegExp, reason: string])[] = [
  [/^src\/command\//, 'a client of the API'],
  [/^src\/surface\/(console|canvas|proposals)\//, 'shows and sends the JSON of the API'],
  [/^src\/surface\/console-pages\/rule-texts\.ts$/, 'rules by the names that checks have in JSON'],
  [/^src\/surface\/mpp-merchants\//, 'prices as texts in addresses and answers'],
  [/^src\/derive\//, 'documents and verifies JSON'],
  [/^src\/dev\/seed\.ts$/, 'sends the JSON of the API'],
  [/^src\/statements\//, 'what people sign'],
  [/^src\/control\/mandates\/create\.ts$/, 'what people sign'],
  [/^src\/control\/intents\/approval\/subject\.ts$/, 'what people sign'],
  [/^src\/commerce\/transfers\/signed-payment\.ts$/, 'what people sign'],
  [/^src\/commerce\/mpp\/mpp\.ts$/, 'signed evidence'],
  [/^src\/control\/decisions\/stored-decision\.ts$/, 'the stored JSON of a decision'],
  [/^src\/control\/(policies\/backtest|intents\/inquiries)\.ts$/, 'read the stored JSON of a decision'],
  [
    /^src\/control\/rules\/(decision|mandate-rules)\.ts$/,
    'the mandate in a decision, stored and shown in euros',
  ],
  [/^src\/control\/rules\/presets\.ts$/, 'policies as they are posted'],
  [/^src\/cards\/cards\/processor-calls\.ts$/, 'the stored JSON of a reservation'],
  [/^src\/compliance\/security-incidents\//, 'whole euros, as reports to the authority have them'],
]

const isExample = (part: Node): boolean =>
  (isPropertyAssignment(part) || isVariableDeclaration(part)) &&
  isIdentifier(part.name) &&
  /^example([A-Z]\w*)?s?$/.test(part.name.text)

/** The lines on which code names an amount in euros; examples in contracts are JSON. */
function linesInEuros({ node }: Source): number[] {
  const lines: number[] = []
  const visit = (part: Node): void => {
    if (isExample(part)) return
    if (isIdentifier(part) && /^[a-z]\w*Euros$/.test(part.text)) lines.push(lineOf(node, part))
    part.forEachChild(visit)
  }
  visit(node)
  return lines
}

/** The one file that may make an amount of any bigint. */
const MONEY = 'src/values/money.ts'

const namesCents = (type: Node): boolean =>
  allNodes(type).some(part => isIdentifier(part) && part.text === 'Cents')

/** The lines on which a cast makes an amount: `sum as Cents`, `<Cents | null>row.sum`. */
const linesWithCast = ({ node }: Source): number[] =>
  allNodes(node)
    .filter(part => (isAsExpression(part) || isTypeAssertion(part)) && namesCents(part.type))
    .map(part => lineOf(node, part))

const shipped = readSources().files.filter(({ path }) => !path.startsWith('test/'))
const inEuros = shipped
  .filter(({ path }) => path.startsWith('src/'))
  .flatMap(source => linesInEuros(source).map(line => ({ path: source.path, line })))
const casts = shipped.flatMap(source => linesWithCast(source).map(line => ({ path: source.path, line })))

describe('amounts', () => {
  test('are named in euros only where they are JSON', () => {
    const others = inEuros.filter(({ path }) => !EDGE.some(([place]) => place.test(path)))
    expect(
      others.map(({ path, line }) => `${path}:${line}: name it …Cents; contracts name it …Euros in JSON`),
    ).toEqual([])
  })

  test('are in euros in each place that is allowed', () => {
    const unused = EDGE.filter(([place]) => !inEuros.some(({ path }) => place.test(path)))
    expect(unused.map(([, reason]) => reason)).toEqual([])
  })

  test('are made by a cast only where the arithmetic of amounts is', () => {
    const others = casts.filter(({ path }) => path !== MONEY)
    expect(
      others.map(({ path, line }) => `${path}:${line}: use plus, minus, … or cents() of ${MONEY}`),
    ).toEqual([])
    expect(casts.length).toBeGreaterThan(0)
  })
})

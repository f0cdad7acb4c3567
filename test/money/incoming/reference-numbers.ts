import { describe, expect, test } from '@jest/globals'
import { creditorReferenceFor, referenceNumbersIn } from '../../../src/money/references/register.ts'
import { isCreditorReference, makeCreditorReference } from '../../../src/values/creditor-reference.ts'

describe('a creditor reference', () => {
  test.each(['RF18539007547034', 'RF471234567890', 'RF712348231', 'RF45G72UUR'])('%s is valid', reference => {
    expect(isCreditorReference(reference)).toBe(true)
    expect(makeCreditorReference(reference.slice(4))).toBe(reference)
  })

  test.each(['RF19539007547034', 'RF81539007547034', 'RF00', '', 'rf18539007547034', 'DE18539007547034'])(
    '"%s" is not valid',
    reference => {
      expect(isCreditorReference(reference)).toBe(false)
    },
  )

  const reference = creditorReferenceFor(42n)
  const [head, check, own] = [reference.slice(0, 2), reference.slice(2, 4), reference.slice(4)]
  const wrongCheck = String((Number(check) + 1) % 100).padStart(2, '0')

  test.each<[string, string, bigint[]]>([
    ['alone', reference, [42n]],
    ['in groups', reference.replace(/(.{4})/g, '$1 '), [42n]],
    ['in small letters', `ref ${reference.toLowerCase()} thanks`, [42n]],
    ['with hyphens', `${head}${check}-${own.slice(0, 5)}-${own.slice(5)}`, [42n]],
    ['over a line', `SVWZ+${reference.slice(0, 9)}\n${reference.slice(9)}, invoice 7`, [42n]],
    ['before other digits', `${reference} 2026`, [42n]],
    ['twice', `${reference} / ${reference}`, [42n]],
    ['beside another', `${reference} ${creditorReferenceFor(7n)}`, [42n, 7n]],
    ['with wrong check digits', `${head}${wrongCheck}${own}`, []],
    ['cut short', reference.slice(0, -1), []],
    ['inside a longer number', `${reference}7`, []],
    ['inside a word', `X${reference}`, []],
    ['not at all', 'Invoice 2026-17', []],
  ])('is found in a text: %s', (_, text, numbers) => {
    expect(referenceNumbersIn(text)).toEqual(numbers)
  })
})

import { describe, expect, test } from '@jest/globals'
import { readClientContract } from '../../src/packages/write/contract.ts'
import { pythonApi, pythonClientKinds, pythonTypes } from '../../src/packages/write/python-api.ts'

const contract = readClientContract()

/** The names that a text declares: classes and type aliases. */
const declared = (text: string): string[] =>
  [...text.matchAll(/^(?:class (\w+)\(|(\w+)(?:: TypeAlias)? = )/gm)].map(
    ([, ofClass, alias]) => ofClass ?? alias ?? '',
  )

describe('what is written for Python', () => {
  test('declares each record of the contract, and each name once', () => {
    const names = declared(pythonTypes(contract))
    expect(names).toEqual(expect.arrayContaining(Object.keys(contract.schemas)))
    expect(new Set(names).size).toBe(names.length)
  })

  test.each(pythonClientKinds)('has every operation, for the $client client', kind => {
    const methods = pythonApi(contract, kind).match(/^ {4}(?:async )?def (?!__init__)/gm)
    // Two are composed: waiting for a decision, and for a payment. One that may go on has two more signatures.
    const goesOn = contract.operations.filter(({ accepted }) => accepted !== undefined)
    expect(methods).toHaveLength(contract.operations.length + 2 + 2 * goesOn.length)
  })
})

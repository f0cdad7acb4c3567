import './spend-reach/known-ways.ts'
import { expect, test } from '@jest/globals'
import { areas } from '../../src/areas.ts'
import { publishedOperations } from '../../src/kernel/contract/area.ts'
import { isWritingOperation, type RegisteredOperation } from '../../src/kernel/contract/operation.ts'
import { known } from './spend-reach/operations.ts'

/** The operator and systems outside are no one's way round: their secrets are not an owner's. */
const isOfOwner = ({ operation }: RegisteredOperation): boolean =>
  operation.callers.some(caller => caller !== 'dash' && caller !== 'signed')

test('the property of spending knows each operation that changes something, once', () => {
  const changing = publishedOperations(areas).filter(
    one => isWritingOperation(one.operation) && isOfOwner(one),
  )
  expect(known.flatMap(([, names]) => names).toSorted()).toEqual(changing.map(({ key }) => key).toSorted())
})

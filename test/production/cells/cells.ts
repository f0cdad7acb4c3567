import { freePort } from '../../../src/dev/processes/free-port.ts'
import { type Cell, type Place, startCell } from './cell.ts'
import { type RunningProxy, startProxy } from './haproxy.ts'
import { type Moved, moveCell } from './move.ts'

/** Two cells on one Temporal, behind HAProxy; the second one has a second machine to move to. */
export interface Cells {
  readonly proxy: RunningProxy
  readonly first: Cell
  readonly second: Cell
  moveSecond(): Promise<Moved>
}

export async function startCells(place: Place): Promise<Cells> {
  const [one = 0, two = 0, moved = 0] = [await freePort(0), await freePort(0), await freePort(0)]
  const first = await startCell('c1', one, place)
  const second = await startCell('c2', two, place)
  const proxy = await startProxy(
    place.folder,
    new Map([
      ['10.0.0.1:8081', `127.0.0.1:${one}`],
      ['10.0.0.1:8082', `127.0.0.1:${two}`],
      ['10.0.0.2:8082', `127.0.0.1:${moved}`],
    ]),
  )
  place.closeLater(proxy.process.stop)
  return { proxy, first, second, moveSecond: () => moveCell(second, moved, place) }
}

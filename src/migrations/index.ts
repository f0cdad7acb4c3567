import { Kernel } from './m0001-kernel.ts'
import { Control } from './m0003-control.ts'

/** In the order in which they run. A migration that has been released is never changed. */
export const migrations = [
  { name: 'm0001-kernel', class: Kernel },
  { name: 'm0003-control', class: Control },
]

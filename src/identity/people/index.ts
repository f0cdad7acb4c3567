export { findPerson } from './people.ts'
export { personEvents } from './schemas.ts'

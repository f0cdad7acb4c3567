export { hasAnybody, makeLink, redeemLink } from './links.ts'
export { findPerson } from './people.ts'
export { Person } from './person.ts'
export { linkEvents, linkFails, personEvents, role } from './schemas.ts'

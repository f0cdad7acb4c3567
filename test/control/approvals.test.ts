import './approvals/deciders.ts'

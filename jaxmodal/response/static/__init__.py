"""Static response of arms: compliance under unit forces, and buckling by static forces."""

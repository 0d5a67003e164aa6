"""What is measured, compared and recomputed with jaxmodal: rivals, published results (`reproduction`), `studies`."""
